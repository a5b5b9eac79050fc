// What furo leaves out for people who use a keyboard or a screen reader: names of regions, and a way to
// scroll what is wider than the page.
const names = { ".sidebar-drawer": "Pages", ".toc-drawer": "On this page", ".content-icon-container": "Tools" };
for (const [selector, name] of Object.entries(names)) {
  const part = document.querySelector(selector);
  part?.setAttribute("aria-label", name);
  if (part?.tagName === "DIV") part.setAttribute("role", "region");
}
for (const box of document.querySelectorAll("pre, .table-wrapper")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
