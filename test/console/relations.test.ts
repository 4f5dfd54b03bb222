import { expect, test } from 'vitest';
import {
  type Candidate,
  dependentsOf,
  type Related,
  toPicture,
} from '../../src/console/model/relation-picture.ts';

const related = (key: string): Related => ({
  key,
  kind: 'Pod',
  name: key,
  namespace: '',
  resource: 'pods',
  isHere: false,
});
const candidate = (uid: string, ...owners: string[]): Candidate => ({
  resource: 'pods',
  kind: 'Pod',
  object: {
    metadata: {
      ...{ name: uid, uid, resourceVersion: '1' },
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'X', name: owner, uid: owner })),
    },
  },
});

test('dependents are found through those between, each once, in circles too', () => {
  const all = [
    candidate('rs', 'web'),
    candidate('pod', 'rs', 'other'),
    candidate('web', 'pod'),
    candidate('alone'),
  ];
  expect(dependentsOf('web', all).map(({ object }) => object.metadata.uid)).toEqual(['rs', 'pod']);
});

test('owners stand left of what they own, and no two nodes on one another', () => {
  const nodes = ['pod1', 'web', 'rs', 'pod2'].map(related);
  const { nodes: placed, edges } = toPicture(nodes, [
    { owner: 'web', dependent: 'rs' },
    { owner: 'rs', dependent: 'pod1' },
    { owner: 'rs', dependent: 'pod2' },
    { owner: 'web', dependent: 'pod2' },
    { owner: 'nobody', dependent: 'pod1' },
  ]);
  expect(edges).toHaveLength(4);
  for (const { from, to } of edges) expect(from.x).toBeLessThan(to.x);
  expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
});

test('what owns itself is drawn all the same', () => {
  const { nodes, width } = toPicture(['a', 'b'].map(related), [
    { owner: 'a', dependent: 'b' },
    { owner: 'b', dependent: 'a' },
  ]);
  expect(nodes).toHaveLength(2);
  expect(Number.isFinite(width)).toBe(true);
});
