import { expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import {
  bySchemaOrder,
  ObjectIndex,
  parseFlowSchema,
  parsePriorityLevel,
} from '../../src/flow-control/flow-configuration.ts';
import { isAbandoned, MANDATORY, revise, suggestedIn } from '../../src/flow-control/shipped-configuration.ts';
import { flowschemas } from '../../src/resources/flowcontrol/flow-schema.ts';
import { prioritylevelconfigurations } from '../../src/resources/flowcontrol/priority-level-configuration.ts';
import type { Entry } from '../../src/storage/store.ts';
import { problemsOnCreate } from '../kit/manifests.ts';

const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';

const SUGGESTED = suggestedIn(31);

test('schemas for leader election with endpoints and config maps are gone since 1.34', () => {
  const names = (minor: Minor): (string | undefined)[] =>
    suggestedIn(minor).schemas.map(({ metadata }) => metadata.name);
  for (const name of ['endpoint-controller', 'workload-leader-election'])
    expect(
      MINORS.filter((minor) => names(minor).includes(name)),
      name,
    ).toEqual([31, 32, 33]);
  expect(names(36)).toHaveLength(names(31).length - 2);
  expect(suggestedIn(36).levels).toBe(suggestedIn(31).levels);
});

test('the flow schemas of a fresh cluster are those of Kubernetes 1.31', () => {
  const schemas = [...SUGGESTED.schemas, ...MANDATORY.schemas].map(parseFlowSchema).sort(bySchemaOrder);
  const lines = schemas.map(({ name, precedence, level, distinguisher = 'none' }) =>
    [precedence, name, level, distinguisher].join(' '),
  );
  expect(lines).toEqual([
    '1 exempt exempt none',
    '2 probes exempt none',
    '100 system-leader-election leader-election ByUser',
    '150 endpoint-controller workload-high ByUser',
    '200 workload-leader-election leader-election ByUser',
    '400 system-node-high node-high ByUser',
    '500 system-nodes system ByUser',
    '800 kube-controller-manager workload-high ByNamespace',
    '800 kube-scheduler workload-high ByNamespace',
    '900 kube-system-service-accounts workload-high ByNamespace',
    '9000 service-accounts workload-low ByUser',
    '9900 global-default global-default ByUser',
    '10000 catch-all catch-all ByUser',
  ]);
});

test('the priority levels of a fresh cluster are those of Kubernetes 1.31', () => {
  const levels = [...SUGGESTED.levels, ...MANDATORY.levels].map(parsePriorityLevel);
  const lines = levels.map((level) => {
    const { queues = 0, handSize = 0, queueLengthLimit = 0 } = level?.queuing ?? {};
    return [level?.name, level?.shares, level?.lendablePercent, queues, handSize, queueLengthLimit].join(' ');
  });
  expect(lines).toEqual([
    'system 30 33 64 6 50',
    'node-high 40 25 64 6 50',
    'leader-election 10 0 16 4 50',
    'workload-high 40 50 128 6 50',
    'workload-low 100 90 128 6 50',
    'global-default 20 50 128 6 50',
    'catch-all 5 0 0 0 0',
    'exempt 0 0 0 0 0',
  ]);
});

test('the resources accept every object that the server ships', () => {
  for (const { schemas, levels } of [SUGGESTED, MANDATORY]) {
    for (const object of schemas) expect(problemsOnCreate(flowschemas, object)).toEqual([]);
    for (const object of levels) expect(problemsOnCreate(prioritylevelconfigurations, object)).toEqual([]);
  }
});

const [shipped] = SUGGESTED.levels as [ApiObject];

function stored(
  object: ApiObject,
  autoUpdate: string | undefined,
  generation: number,
  shares?: number,
): ApiObject {
  const copy = structuredClone(object);
  copy.metadata = { name: object.metadata.name ?? '', generation };
  if (autoUpdate !== undefined) copy.metadata.annotations = { [AUTO_UPDATE]: autoUpdate, mine: 'too' };
  const spec = copy.spec as JsonObject;
  if (shares !== undefined)
    spec.limited = { ...(spec.limited as JsonObject), nominalConcurrencyShares: shares };
  return copy;
}

test.each<[string, ApiObject, boolean, 'nothing' | 'spec' | 'annotation']>([
  ['as it is shipped', stored(shipped, 'true', 1), false, 'nothing'],
  ['changed, while the server keeps it', stored(shipped, 'true', 2, 7), false, 'spec'],
  ['changed and taken over', stored(shipped, 'false', 2, 7), false, 'nothing'],
  ['changed and unmarked: it counts as taken over', stored(shipped, undefined, 2, 7), false, 'annotation'],
  ['never changed and unmarked', stored(shipped, undefined, 1, 7), false, 'spec'],
  ['marked with nonsense', stored(shipped, 'perhaps', 1), false, 'annotation'],
  ['mandatory, changed and taken over', stored(shipped, 'false', 2, 7), true, 'spec'],
])('an object is brought up to date: %s', (_, current, mandatory, expected) => {
  const revised = revise(current, shipped, mandatory);
  if (expected === 'nothing') {
    expect(revised).toBeUndefined();
    return;
  }
  expect(revised?.spec).toEqual(expected === 'spec' ? shipped.spec : current.spec);
  const kept = expected === 'spec' ? 'true' : String(revised?.metadata.generation === 1);
  expect(revised?.metadata.annotations?.[AUTO_UPDATE]).toBe(kept);
});

test('how much the exempt level counts is the operator’s to say', () => {
  const exempt = MANDATORY.levels.find(({ metadata }) => metadata.name === 'exempt') as ApiObject;
  const mine = stored(exempt, 'true', 2);
  mine.spec = { type: 'Exempt', exempt: { nominalConcurrencyShares: 20, lendablePercent: 50 } };
  expect(revise(mine, exempt, true)).toBeUndefined();
  mine.spec = { type: 'Limited' };
  expect(revise(mine, exempt, true)?.spec).toEqual(exempt.spec);
});

test('an object of an earlier release that no operator took over is abandoned', () => {
  const names = new Set(['system']);
  expect(isAbandoned(stored(shipped, 'true', 1), names)).toBe(false);
  const old = (mark: string | undefined) => {
    const object = stored(shipped, mark, 1);
    object.metadata.name = 'old';
    return object;
  };
  expect(isAbandoned(old('true'), names)).toBe(true);
  expect(isAbandoned(old('false'), names)).toBe(false);
  expect(isAbandoned(old(undefined), names)).toBe(false);
});

test.each<[string, JsonObject]>([
  ['without a type', {}],
  ['limited without limits', { type: 'Limited' }],
  ['exempt by its own word', { type: 'Exempt', exempt: {} }],
  [
    'with hands that cannot be dealt',
    { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 8 } } } },
  ],
])('a level that cannot be used is treated as absent: %s', (_, spec) => {
  const object = { kind: 'PriorityLevelConfiguration', apiVersion: 'v1', metadata: { name: 'it' }, spec };
  expect(parsePriorityLevel(object)).toBeUndefined();
});

test('an index tells of changes of the spec and of nothing else', () => {
  let changes = 0;
  const index = new ObjectIndex(parsePriorityLevel, () => {
    changes += 1;
  });
  const entry = (object: ApiObject): Entry =>
    ({
      namespace: '',
      name: object.metadata.name ?? '',
      uid: '',
      revision: 1n,
      json: toStoredJson(object),
      labels: {},
      fields: {},
      ownerUids: [],
    }) as unknown as Entry;
  const event = (type: 'MODIFIED' | 'DELETED', object: ApiObject) =>
    ({ type, entry: entry(object), revision: 1n }) as never;
  index.replace([entry(stored(shipped, 'true', 1))]);
  expect([changes, index.values().length]).toEqual([1, 1]);
  index.apply(event('MODIFIED', { ...stored(shipped, 'true', 1), status: { conditions: [] } }));
  expect(changes).toBe(1);
  index.apply(event('MODIFIED', stored(shipped, 'true', 2, 99)));
  expect([changes, index.values()[0]?.shares]).toEqual([2, 99]);
  index.apply(event('MODIFIED', { ...stored(shipped, 'true', 3), spec: {} }));
  expect([changes, index.values().length]).toEqual([3, 0]);
  index.apply(event('DELETED', stored(shipped, 'true', 3)));
  expect(changes).toBe(3);
});
