import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { TestRoles } from '../../kit/roles.ts';
import { startPrivatePostgres } from '../../postgres.ts';
import { openLog, write } from './kit.ts';
import { connect } from './stalls.ts';

test('however much PostgreSQL logs, it logs nothing of what objects hold, for a superuser and for a role that serves', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres({
    empty: true,
    settings: ['log_min_duration_statement=0', 'log_statement=all', 'log_parameter_max_length_on_error=-1'],
  });
  await using session = await connect(postgres.url);
  await using roles = new TestRoles({ ...session, url: postgres.url, drop: async () => {} });
  const names = {
    migrator: roles.nameOf('migrator'),
    server: roles.nameOf('server'),
    reader: roles.nameOf('reader'),
  };
  const said: string[] = [];
  const described = await setUpDatabase({ urls: [postgres.url], poolSize: 1 }, async (database) => {
    await database.makeRoles(names, { say: (line) => said.push(line) });
    return database.describeLoggedValues();
  });
  expect(described).toBeUndefined();
  expect(said).toContain(`ALTER ROLE "${names.server}" SET log_parameter_max_length = 0`);
  const servers = [postgres.url, await roles.urlOf('server')];
  for (const [at, url] of servers.entries()) {
    const log = openLog(url);
    const created = await log.committer.commit(write('create', `a${at}`, undefined, 'hush'));
    await log.committer.commit(write('update', `a${at}`, created, 'hush again'));
    const taken = {
      ...write('create', `b${at}`, undefined, 'hush'),
      uid: 'a uid\ud800 that cannot be stored',
    };
    await log.committer.commit(taken).catch(() => {});
    await log.close();
  }
  const lines = readFileSync(join(postgres.folder, 'postgres.log'), 'utf8');
  expect(lines).toContain('FROM commit_revisions');
  expect(lines).not.toContain('hush');
});

test('a server that may not keep values out of the log names the settings, and what turns them off', async () => {
  await using postgres = await startPrivatePostgres({
    empty: true,
    settings: ['log_min_duration_statement=0'],
  });
  await using session = await connect(postgres.url);
  await session.query("CREATE ROLE plain LOGIN PASSWORD 'secret'; GRANT CREATE ON SCHEMA public TO plain");
  const url = new URL(postgres.url);
  url.username = 'plain';
  url.password = 'secret';
  const describe = (): Promise<string | undefined> =>
    setUpDatabase({ urls: [url.href], poolSize: 1 }, (database) => database.describeLoggedValues());
  expect(await describe()).toBe(
    'PostgreSQL writes values into its log, those of Secrets too, because of log_min_duration_statement = 0: as a superuser, run ALTER ROLE plain SET log_parameter_max_length = 0',
  );
  await session.query('ALTER ROLE plain SET log_parameter_max_length = 0');
  expect(await describe()).toBeUndefined();
});
