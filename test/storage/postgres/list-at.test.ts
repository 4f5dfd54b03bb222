import { expect, test } from 'vitest';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase } from '../../postgres.ts';
import { beginPartition, keepHistory, openLog, write } from './kit.ts';

const resource = { group: '', resource: 'configmaps' };

test('pages of the past hold what was there then, and count what is left', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  const log = openLog(database.url);
  const live = new Map<string, Revision>();
  const then: { revision: Revision; names: string[] }[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    // Some are written often, some once, some are deleted and come again.
    const name = `n${(turn * turn) % 11}`;
    const expected = live.get(name);
    const verb = expected === undefined ? 'create' : turn % 4 === 0 ? 'delete' : 'update';
    const revision = await log.committer.commit(write(verb, name, expected));
    if (verb === 'delete') live.delete(name);
    else live.set(name, revision);
    then.push({ revision, names: [...live.keys()].toSorted() });
    if (turn % 20 === 19) await beginPartition(database);
  }
  for (const { revision, names } of then) {
    const found: string[] = [];
    for (let after = ''; ; after = `default\0${found.at(-1)}`) {
      const scope = { namespace: 'default' };
      const page = await log.reader.listAt({
        resource,
        scope,
        revision,
        limit: 2,
        ...(after === '' ? {} : { after }),
      });
      found.push(...page.objects.map(({ key }) => key.name));
      expect(page.remaining, `at ${revision}`).toBe(names.length - found.length);
      if (page.remaining === 0) break;
    }
    expect(found, `at ${revision}`).toEqual(names);
  }
  await log.close();
});
