import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { NodeGraph } from '../../src/authz/node-graph.ts';
import { RbacAuthorizer } from '../../src/authz/rbac/rbac.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import {
  ObjectIndex,
  parseFlowSchema,
  parsePriorityLevel,
} from '../../src/flow-control/flow-configuration.ts';
import { CachedEntry } from '../../src/storage/cached-entry.ts';
import type { Followed } from '../../src/storage/follower.ts';
import { toRevision } from '../../src/storage/revision.ts';
import { RandomObjects } from '../codec/random-object.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

/** An index that throws takes its service down, and an essential one the server: what a client may store must not do that. */

const types = loadTypes();

function randomEntry(resource: string, seed: number): CachedEntry {
  const definition = BUILT_IN_RESOURCES.find((one) => one.resource === resource);
  if (definition === undefined) throw new Error(`no resource ${resource}`);
  const schema = types.message(definition.storage.type);
  const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
  const [name, namespace] = [`n${seed % 7}`, definition.namespaced ? 'shop' : ''];
  const json = Buffer.from(
    JSON.stringify({ ...object, kind: definition.kind, apiVersion: 'v1', metadata: { name, namespace } }),
  );
  const { group } = definition;
  return new CachedEntry(
    { key: { group, resource, namespace, name }, uid: `${seed}`, revision: toRevision(seed), json },
    () => ({}),
  );
}

const indexes: readonly (readonly [string, Followed])[] = [
  ...new RbacAuthorizer().sources.map(({ resource, index }) => [resource.resource, index] as const),
  ...new NodeGraph().sources.map(({ resource, index }) => [resource.resource, index] as const),
  ['flowschemas', new ObjectIndex(parseFlowSchema, () => {})],
  ['prioritylevelconfigurations', new ObjectIndex(parsePriorityLevel, () => {})],
];

test.each(indexes)('no object of its type makes the index of %s throw', (resource, index) => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const entry = randomEntry(resource, seed);
    const what = (): string => entry.json.toString();
    for (const type of ['ADDED', 'MODIFIED', 'DELETED'] as const)
      expect(() => index.apply({ type, entry, revision: entry.revision }), what()).not.toThrow();
    expect(() => index.replace([entry]), what()).not.toThrow();
  }
});
