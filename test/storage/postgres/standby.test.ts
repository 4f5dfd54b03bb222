import { expect, test } from 'vitest';
import { findStrangeness } from '../../../src/storage/postgres/read/standby.ts';
import type { Revision } from '../../../src/storage/revision.ts';

type LogPosition = Parameters<typeof findStrangeness>[0];

const revision = (value: number): Revision => BigInt(value) as Revision;

const POSITION: LogPosition = {
  system: '7301',
  database: '16384',
  log: '16400',
  epoch: revision(100),
  timeline: '00000002',
  isStandby: true,
  follows: '00000002',
  migration: 34,
  compacted: revision(110),
  revision: revision(130),
  seenWrite: 'a',
};
const PRIMARY = { identity: POSITION, seen: { revision: revision(120), writeId: 'a' } };

test.each<[string, Partial<LogPosition>, string | undefined]>([
  ['one that is in order', {}, undefined],
  ['one that does not say what it receives', { follows: null }, undefined],
  ['one that has not replayed the row', { seenWrite: null, revision: revision(119) }, undefined],
  ['one that has compacted the row', { seenWrite: null, compacted: revision(120) }, undefined],
  ['one that has yet to replay the epoch', { epoch: revision(0), revision: undefined }, undefined],
  ['one that was promoted', { isStandby: false }, 'no standby'],
  ['one of another system', { system: '7302' }, 'another database'],
  ['another database', { database: '16385' }, 'another database'],
  ['another schema', { log: '16401' }, 'another database'],
  ['one of another timeline', { follows: '00000003' }, 'it follows timeline 00000003'],
  ['one of a later epoch', { epoch: revision(125) }, 'its history began after revision 125'],
  ['one of an earlier epoch', { epoch: revision(0) }, 'its history began after revision 0'],
  ['one with another row', { seenWrite: 'b' }, 'revision 120 is another write'],
  ['one that has lost the row', { seenWrite: null }, 'revision 120 is another write'],
])('%s', (_, other, strangeness) => {
  const found = findStrangeness({ ...POSITION, ...other }, PRIMARY);
  if (strangeness === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(strangeness);
});
