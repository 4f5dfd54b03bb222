import { expect, test } from 'vitest';
import { Behind } from '../../../src/storage/postgres/feed/behind.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';

function followed() {
  const now = { ms: 0, visible: NO_REVISION as Revision };
  const behind = new Behind(
    () => now.visible,
    () => now.ms,
  );
  const see = (revision: number): void => {
    now.visible = toRevision(revision);
    behind.saw();
  };
  return { now, behind, see };
}

test('a tail is behind from when more is visible until it makes progress', () => {
  const { now, behind, see } = followed();
  behind.began(toRevision(1));
  see(5);
  now.ms = 3000;
  see(6);
  expect(behind.ms).toBe(3000);
  behind.reached(toRevision(5));
  expect(behind.ms).toBe(0);
  now.ms = 3500;
  expect(behind.ms).toBe(500);
  behind.reached(toRevision(6));
  now.ms = 9000;
  expect(behind.ms).toBe(0);
});

test('what a log has lost is not waited for', () => {
  const { now, behind, see } = followed();
  behind.began(toRevision(1));
  see(9);
  behind.began(toRevision(4));
  now.ms = 20_000;
  expect(behind.ms).toBe(0);
  behind.reached(toRevision(5));
  expect(behind.ms).toBe(0);
});
