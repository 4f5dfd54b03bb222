import { expect, test } from 'vitest';
import { describeSettings } from '../../../src/storage/postgres/examination/durability.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { createTestDatabase } from '../../postgres.ts';

test.each([
  [{ commit: 'on', standbys: '', fsync: 'on' }, 'on the disk of one PostgreSQL: no standby is waited for'],
  [{ commit: 'off', standbys: 'a', fsync: 'on' }, 'on the disks of standbys (synchronous_standby_names = a)'],
  [
    { commit: 'local', standbys: 'a', fsync: 'on' },
    'on this disk; standbys are not waited for (synchronous_standby_names = a)',
  ],
  [
    { commit: 'remote_apply', standbys: 'ANY 1 (a, b)', fsync: 'on' },
    'applied by standbys (synchronous_standby_names = ANY 1 (a, b))',
  ],
  [
    { commit: 'on', standbys: 'a', fsync: 'off' },
    'in memory alone: fsync is off, and a crash of the machine loses what was acknowledged',
  ],
])('with %o, a write that is acknowledged is said to be as safe as it is', (settings, said) => {
  expect(describeSettings(settings)).toBe(said);
});

test('a database says how safe it keeps what was acknowledged', async () => {
  await using database = await createTestDatabase();
  const said = await setUpDatabase({ urls: [database.url], poolSize: 1 }, (setup) =>
    setup.describeDurability(),
  );
  const [row] = await database.query<{ fsync: string }>('SHOW fsync');
  expect(said).toMatch(row?.fsync === 'off' ? /^in memory alone/ : /^on the disk/);
});
