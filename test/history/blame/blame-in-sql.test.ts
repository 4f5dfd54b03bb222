import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/api/object-meta.ts';
import { changesBetween, leavesOf } from '../../../src/history/changes.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { states } from '../changed-objects.ts';

interface Row {
  readonly revision: number;
  readonly name: string;
  readonly verb: string;
  readonly previous: number | null;
  readonly object: JsonObject;
}

/** The lives of some objects: most writes change little, some states come back, some objects are deleted and made again. */
function livesOf(count: number, writes: number): Row[] {
  const pairs = fc.sample(states, { numRuns: count * writes, seed: 62 });
  const rows: Row[] = [];
  for (let life = 0; life < count; life += 1) {
    let [state] = pairs[life * writes] ?? [{}];
    let previous: number | null = null;
    for (let turn = 0; turn < writes; turn += 1) {
      const revision = 1 + turn * count + life;
      const [one, other] = pairs[life * writes + turn] ?? [{}, {}];
      const isEnd = turn % 7 === 5 && life % 3 === 0;
      // Of some objects the log has not the first revisions.
      const before = turn === 0 && life % 4 === 1 ? 0 : previous;
      const verb = before === null ? 'create' : isEnd ? 'delete' : 'update';
      if (!isEnd)
        state = turn % 3 === 2 ? { ...state, list: other.list ?? [] } : turn % 5 === 4 ? one : state;
      rows.push({ revision, name: `o${life}`, verb, previous: before, object: withTurn(state, turn) });
      previous = isEnd ? null : revision;
    }
  }
  return rows;
}

/** With a field that changes at each write, and fields that Kubernetes changes by itself. */
const withTurn = (object: JsonObject, turn: number): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), managedFields: [{ time: turn }] },
  status: { turn, conditions: [{ type: 'Ready', at: turn }, { type: 'Old' }], held: { a: 1, b: turn % 4 } },
});

async function insert(database: TestDatabase, rows: readonly Row[]): Promise<void> {
  await database.query(
    `INSERT INTO revisions (
      revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id, username,
      user_agent, source_address, request_id, field_manager, follows_revision
    )
    SELECT r.revision, '', 'things', 'default', r.name, r.name, r.verb, r.previous, r.object, now(), gen_random_uuid(),
      'user ' || r.revision, '', '', '', '', r.revision - 1
    FROM json_to_recordset($1) AS r (revision bigint, name text, verb text, previous bigint, object json)`,
    [JSON.stringify(rows)],
  );
  await database.query(
    `INSERT INTO objects (api_group, resource, namespace, name, revision, uid, object, modified_at)
    SELECT DISTINCT ON (name) '', resource, namespace, name, revision, uid, object, committed_at
    FROM revisions WHERE resource = 'things' ORDER BY name, revision DESC`,
  );
}

/** Who set a field: the newest revision that changed it, or something that it is in. */
function setterOf(leaf: string, changes: readonly { revision: number; path: string }[]): number | null {
  const isIn = (path: string): boolean =>
    path === '' || leaf === path || (leaf.startsWith(path) && '.['.includes(leaf[path.length] ?? ' '));
  return changes.findLast(({ path }) => isIn(path))?.revision ?? null;
}

interface Blamed {
  readonly path: string;
  readonly value: JsonValue;
  readonly revision: number | null;
}

const inOrder = (fields: readonly Blamed[]): Blamed[] =>
  [...fields].sort((a, b) => (a.path < b.path ? -1 : 1));

test('blame_of names the authors that the changes of an object name, also once it is changed or deleted', async () => {
  await using database = await createTestDatabase();
  const rows = livesOf(24, 16);
  await insert(database, rows);
  const stateOf = (revision: number | null): JsonObject | undefined =>
    rows.find((row) => row.revision === revision)?.object;
  let compared = 0;
  for (const name of new Set(rows.map((row) => row.name))) {
    const life = rows.filter((row) => row.name === name);
    const changes = life.flatMap(({ revision, verb, previous, object }) =>
      atOnce(changesBetween(stateOf(previous), verb === 'delete' ? undefined : object)).changes.map(
        ({ path }) => ({ revision, path }),
      ),
    );
    const last = life.at(-1)?.object ?? {};
    const expected = atOnce(leavesOf(last)).map((leaf) => ({
      ...leaf,
      revision: setterOf(leaf.path, changes),
    }));
    const blamed = await database.query<Blamed & { who: string }>(
      "SELECT path, value, revision::int, who FROM blame_of('', 'things', 'default', $1)",
      [name],
    );
    // PostgreSQL writes an object in its own way; nothing is named by one.
    if ([...changes, ...expected, ...blamed].some(({ path }) => /=[{[]/.test(path))) continue;
    compared += 1;
    expect(inOrder(blamed.map(({ who: _, ...field }) => field)), name).toEqual(inOrder(expected));
    for (const { who, revision } of blamed) expect(who).toBe(revision === null ? null : `user ${revision}`);
  }
  expect(compared).toBeGreaterThan(12);
});
