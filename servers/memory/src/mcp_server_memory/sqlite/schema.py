"""The tables, and how an older store becomes one of today.

Nothing is ever deleted: a row names the change that `made` it, the one since which it is `gone`, and the undo that
brought it `back`, so every change can be taken back.
That also lets the indexes of words grow at one end only, which keeps the cost of a write independent of the graph.
"""

from typing import NamedTuple

APPLICATION = 0x6D656D67  # "memg": tells our files from other people's databases


class Migration(NamedTuple):
    """What makes version `to` out of the version before it."""

    to: int
    script: str


_FIRST = """
CREATE TABLE change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    client TEXT NOT NULL,
    act TEXT NOT NULL,
    undoes INTEGER REFERENCES change (id),
    undone INTEGER REFERENCES change (id)
);
CREATE INDEX change_at ON change (at);

CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, key TEXT NOT NULL);
CREATE INDEX name_key ON name (key);

CREATE TABLE entity (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name INTEGER NOT NULL REFERENCES name (id),
    type TEXT NOT NULL,
    type_key TEXT NOT NULL,
    made INTEGER NOT NULL REFERENCES change (id),
    gone INTEGER REFERENCES change (id),
    back INTEGER REFERENCES change (id)
);
CREATE UNIQUE INDEX entity_live ON entity (name) WHERE gone IS NULL;
CREATE INDEX entity_type ON entity (type_key) WHERE gone IS NULL;
CREATE INDEX entity_made ON entity (made);
CREATE INDEX entity_gone ON entity (gone) WHERE gone IS NOT NULL;
CREATE INDEX entity_back ON entity (back) WHERE back IS NOT NULL;
CREATE INDEX entity_past ON entity (name) WHERE gone IS NOT NULL;

CREATE TABLE observation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    entity INTEGER NOT NULL REFERENCES entity (id),
    text TEXT NOT NULL,
    sum INTEGER NOT NULL,
    made INTEGER NOT NULL REFERENCES change (id),
    gone INTEGER REFERENCES change (id),
    back INTEGER REFERENCES change (id)
);
CREATE INDEX observation_live ON observation (entity, id) WHERE gone IS NULL;
CREATE INDEX observation_sum ON observation (entity, sum) WHERE gone IS NULL;
CREATE INDEX observation_made ON observation (made);
CREATE INDEX observation_gone ON observation (gone) WHERE gone IS NOT NULL;
CREATE INDEX observation_back ON observation (back) WHERE back IS NOT NULL;
CREATE INDEX observation_past ON observation (entity) WHERE gone IS NOT NULL;

CREATE TABLE relation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL REFERENCES name (id),
    target INTEGER NOT NULL REFERENCES name (id),
    type TEXT NOT NULL,
    made INTEGER NOT NULL REFERENCES change (id),
    gone INTEGER REFERENCES change (id),
    back INTEGER REFERENCES change (id)
);
CREATE UNIQUE INDEX relation_live ON relation (source, target, type) WHERE gone IS NULL;
CREATE INDEX relation_source ON relation (source, id) WHERE gone IS NULL;
CREATE INDEX relation_target ON relation (target, id) WHERE gone IS NULL;
CREATE INDEX relation_made ON relation (made);
CREATE INDEX relation_gone ON relation (gone) WHERE gone IS NOT NULL;
CREATE INDEX relation_back ON relation (back) WHERE back IS NOT NULL;

CREATE TABLE touched (
    change INTEGER NOT NULL REFERENCES change (id),
    name INTEGER NOT NULL REFERENCES name (id),
    PRIMARY KEY (change, name)
) WITHOUT ROWID;
CREATE INDEX touched_name ON touched (name, change);

CREATE TABLE imported (file TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE notice (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE upkeep (what TEXT PRIMARY KEY, at INTEGER NOT NULL);

-- Row 2n is entity n, row 2n + 1 is observation n. Words know the name beside each observation, so that
-- `ada engine` finds the observation about the engine; parts find three letters and more inside of words.
CREATE VIRTUAL TABLE words USING fts5 (
    name, type, text, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co So'"
);
-- Parts do not know where they stand: a quarter of the size, and candidates are read again anyway.
CREATE VIRTUAL TABLE parts USING fts5 (text, content = '', detail = 'none', tokenize = 'trigram case_sensitive 1');
-- Merging the index inside of a write makes one write in eight ten times slower (measured): upkeep.py does it
-- between writes instead. 1,800 pieces is when FTS5 does it after all; it can hold 2,000.
INSERT INTO words (words, rank) VALUES ('automerge', 0), ('crisismerge', 1800);
INSERT INTO parts (parts, rank) VALUES ('automerge', 0), ('crisismerge', 1800);
"""

MIGRATIONS = (Migration(1, _FIRST),)
