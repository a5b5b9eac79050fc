"""What the datasets of LongEmotion share: the pinned release, its paper and its licence."""

from functools import partial

from schemas.dataset import DatasetSpec
from tasks.datasets.catalogue import pinned_in

longemotion_file = pinned_in("github.com/LongEmotion/LongEmotion", "7149110920c83589e979a0f1615d2661af884594")

PAPER = "LongEmotion, arXiv:2509.07403"

released = partial(DatasetSpec, licence="none stated")
"""Makes the entry of a file of the release, whose repository has no licence file."""

BY_MD5 = "The file could not be had for this entry: it is checked against the md5 its authors report."
