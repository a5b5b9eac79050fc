// Which results of the search come first: guides before reference, and what is written for developers, or made of data, last.
// Words that pages do not use, or not often enough, are in docs/search.yaml.
const PLACES = [
  [/^(tutorial|how-to\/.+|troubleshooting)$/, 20],
  [/^(cost|embedded|failures|glossary|journal|methodology|models|python|zh\/.+|readme\.zh)$/, 10],
  [/^(decisions\/|reference\/documents\/|benchmarks\/(tasks|datasets)\/|architecture|changelog|contributing|measurements)/, -20],
];

Scorer.score = ([page, , , , score]) => score + (PLACES.find(([place]) => place.test(page))?.[1] ?? 0);
