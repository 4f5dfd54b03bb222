import { expect, test } from 'vitest';
import { ForeseenObjects } from '../../../src/admission/foreseen.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { toAttributes, toDeleteAttributes } from '../../../src/verbs/writing/admission-attributes.ts';
import type { WriteCall } from '../../../src/verbs/writing/write-call.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const NAMESPACE = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'gone' } };

test('what a dry run has foreseen is shown to dry runs alone, and only what some plugin looks for is kept', () => {
  const foreseen = new ForeseenObjects();
  foreseen.add(NAMESPACES, NAMESPACE);
  foreseen.add({ group: '', resource: 'secrets' }, { ...NAMESPACE, kind: 'Secret' });
  expect(foreseen.find(NAMESPACES, '', 'gone')).toBe(NAMESPACE);
  expect(foreseen.find({ group: '', resource: 'secrets' }, '', 'gone')).toBeUndefined();
  const call = (dryRun: boolean): WriteCall => ({
    ...{ definition: configmaps, version: 'v1', subresource: '', namespace: 'gone', ownership: 'leave' },
    ...{ dryRun, foreseen },
    author: {
      user: { username: '', uid: '', groups: [], extra: {} },
      attribution: { username: '', userAgent: '', sourceAddress: '', requestId: '', fieldManager: '' },
    },
  });
  const map = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' } };
  expect(toAttributes(call(true), 'CREATE', map, undefined).foreseen).toBe(foreseen);
  const options = { preconditions: {}, dryRun: false } as const;
  for (const attributes of [
    toAttributes(call(false), 'CREATE', map, undefined),
    toDeleteAttributes(call(false), map, {
      ...{ ...options, gracePeriodSeconds: undefined, propagationPolicy: undefined },
      orphanDependents: undefined,
    }),
  ])
    expect(attributes).not.toHaveProperty('foreseen');
});
