import { expect, test } from 'vitest';
import { readOwnership } from '../../../src/controllers/garbage/ownership.ts';

const read = (metadata: object, rest: object = {}) =>
  readOwnership(Buffer.from(JSON.stringify({ kind: 'Ship', apiVersion: 'v1', metadata, ...rest })));

const OWNER = { apiVersion: 'apps.example.com/v1beta1', kind: 'Fleet', name: 'f', uid: '1' };
const READ = { ...OWNER, group: 'apps.example.com', blocks: false };
const AT = '2026-01-01T00:00:00Z';

test('owners are read at any place in the metadata, and by the canonical name of their group', () => {
  expect(read({ name: 'a', ownerReferences: [OWNER], managedFields: [] }).references).toEqual([READ]);
  expect(read({ managedFields: [{ manager: 'x' }], ownerReferences: [OWNER], name: 'a' }).references).toEqual(
    [READ],
  );
  const node = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '2', blockOwnerDeletion: true };
  const role = { apiVersion: 'rbac.authorization.cluster.io/v1', kind: 'ClusterRole', name: 'r', uid: '3' };
  expect(read({ ownerReferences: [node, role] }).references).toEqual([
    { uid: '2', apiVersion: 'v1', group: '', kind: 'Node', name: 'n', blocks: true },
    {
      uid: '3',
      apiVersion: role.apiVersion,
      group: 'rbac.authorization.k8s.io',
      kind: role.kind,
      name: 'r',
      blocks: false,
    },
  ]);
});

test('fields of the same names elsewhere, and texts that look like them, are not taken for them', () => {
  const text = '"ownerReferences":[{"uid":"x"}],"deletionTimestamp":"x"';
  const fields = { ownerReferences: [OWNER], deletionTimestamp: AT, finalizers: ['orphan'] };
  for (const [metadata, rest] of [
    [{ name: 'a', annotations: { text } }, { spec: { text } }],
    [{ name: 'a' }, { spec: fields }],
    [{ name: 'a' }, { ...fields, template: { metadata: fields } }],
    [{ name: 'a', ownerReferences: null, finalizers: ['orphan'] }, {}],
    [{ name: 'a', ownerReferences: [] }, {}],
  ] as const) {
    expect(read(metadata, rest)).toEqual({ references: [], ending: 'no' });
  }
});

test('what an end waits for is said by its finalizers, and orphans come first', () => {
  const ending = (...finalizers: string[]) =>
    read({ creationTimestamp: AT, finalizers, deletionTimestamp: AT }).ending;
  expect(read({ finalizers: ['orphan'] }).ending).toBe('no');
  expect(read({ deletionTimestamp: AT }).ending).toBe('yes');
  expect(ending('example.com/hold')).toBe('yes');
  expect(ending('foregroundDeletion')).toBe('foreground');
  expect(ending('example.com/hold', 'orphan')).toBe('orphan');
  expect(ending('foregroundDeletion', 'orphan')).toBe('orphan');
});

test('objects with the same text share their references', () => {
  expect(read({ ownerReferences: [OWNER] }).references).toBe(read({ ownerReferences: [OWNER] }).references);
});
