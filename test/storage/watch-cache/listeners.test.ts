import { expect, test } from 'vitest';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry, SoughtValue } from '../../../src/storage/store.ts';
import { AppliedChange } from '../../../src/storage/watch-cache/applied-change.ts';
import { type ChangeListener, Listeners } from '../../../src/storage/watch-cache/listeners.ts';

const key = { namespace: 'a', name: 'x' };

function entryOn(node: string, app?: string): Entry {
  const [json, labels] = [Buffer.from('{}'), app === undefined ? {} : { app }];
  const fields = { node };
  return {
    ...key,
    uid: 'u',
    revision: toRevision(1),
    json,
    sizeBytes: 2,
    metadataEnd: 1,
    labels,
    fields,
    ownerUids: [],
  };
}

const listener = (sought?: SoughtValue): ChangeListener => ({
  ...{ scope: {}, sought },
  ...{ offer: () => undefined, notice: () => undefined },
});

const change = (previous: Entry | undefined, entry: Entry | undefined): AppliedChange =>
  new AppliedChange({ revision: toRevision(2), entry, previous }, undefined);

test('a change calls the listeners that seek what the object has or had, and those that seek nothing', () => {
  const listeners = new Listeners();
  const onNode = Array.from({ length: 100 }, (_, at) =>
    listener({ of: 'field', name: 'node', value: `n${at}` }),
  );
  const ofApp = ['web', 'db'].map((value) => listener({ of: 'label', name: 'app', value }));
  const all = listener();
  for (const one of [...onNode, ...ofApp, all]) listeners.add(one);
  expect(listeners.count).toBe(103);
  const calledBy = (applied: AppliedChange | undefined): Set<ChangeListener> => {
    const called: ChangeListener[] = [];
    listeners.tell(key, (one) => called.push(one), applied);
    expect(new Set(called).size).toBe(called.length);
    return new Set(called);
  };
  const [n0, n1] = onNode;
  const [web, db] = ofApp;
  expect(calledBy(change(undefined, entryOn('n0', 'web')))).toEqual(new Set([all, n0, web]));
  expect(calledBy(change(entryOn('n0'), entryOn('n1')))).toEqual(new Set([all, n0, n1]));
  expect(calledBy(change(entryOn('n1', 'web'), entryOn('n1', 'db')))).toEqual(new Set([all, n1, web, db]));
  expect(calledBy(change(entryOn('', 'db'), undefined))).toEqual(new Set([all, db]));
  expect(calledBy(change(undefined, undefined))).toEqual(new Set([all]));
  expect(calledBy(undefined).size).toBe(103);
  for (const one of [...onNode, ...ofApp]) listeners.remove(one);
  expect(calledBy(change(undefined, entryOn('n0', 'web')))).toEqual(new Set([all]));
  expect(listeners.count).toBe(1);
});
