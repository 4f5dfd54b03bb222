import { expect, test } from 'vitest';
import { siblingsOf } from '../../../src/history/why/siblings.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { ScriptedLog } from './scripted-log.ts';
import { person, Script } from './scripted-past.ts';

const map = (name: string) => ({ kind: 'ConfigMap', metadata: { name } });
const NOON = Date.UTC(2026, 0, 31, 12);

test('what one request wrote belongs together, and what one client wrote within seconds may', async () => {
  const script = new Script();
  const ann = person('ann');
  const requestId = 'one-request';
  script.put(ann, map('long-before'), { atMs: NOON - 60_000 });
  const just = script.put(ann, map('just-before'), { atMs: NOON - 1000 });
  const gone = ['a', 'b', 'c'].map((name) => script.put(ann, map(name), { atMs: NOON, requestId }));
  script.put(person('bob'), map('of-bob'), { atMs: NOON });
  script.put({ ...ann, userAgent: 'helm/3' }, map('of-helm'), { atMs: NOON });
  const after = script.put(ann, map('just-after'), { atMs: NOON + 2000 });

  const [a, b, c] = gone;
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three');
  const found = await siblingsOf(b, { history: new ScriptedLog(script), begin: NO_REVISION });
  expect(found.map(({ row, confidence }) => `${row.key.name} ${confidence}`)).toEqual([
    'just-after possible',
    'c certain',
    'a certain',
    'just-before possible',
  ]);
  expect(found.map(({ row }) => row.revision)).toEqual([after, c, a, just].map(({ revision }) => revision));
});
