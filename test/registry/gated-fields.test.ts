import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../src/api/schema.ts';
import { parseFeatureGates } from '../../src/options/feature-gates.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import { customresourcedefinitions } from '../../src/resources/apiextensions/custom-resource-definition.ts';
import { statefulsets } from '../../src/resources/apps/stateful-set.ts';
import { cronjobs } from '../../src/resources/batch/cron-job.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { persistentvolumeclaims as claims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { pods } from '../../src/resources/pod/definition.ts';

const types = loadTypes();
const byDefault = new GatedFields(parseFeatureGates([], '--feature-gates').isEnabled, types);
const allOff = new GatedFields(() => false, types);

const object = (fields: JsonObject): ApiObject => ({ kind: 'K', apiVersion: 'v1', metadata: {}, ...fields });
const pod = (spec: JsonObject): ApiObject => object({ spec });

describe('a field of a feature that is off', () => {
  const given = pod({
    containers: [{ name: 'a', resizePolicy: [{ resourceName: 'cpu' }] }],
    hostUsers: false,
  });

  test('is dropped on create, and nothing else is', () => {
    const created = structuredClone(given);
    byDefault.drop(pods, created);
    expect(created.spec).toEqual({ containers: [{ name: 'a' }] });
  });

  test('is dropped on update, unless the object had it', () => {
    const next = structuredClone(given);
    byDefault.drop(pods, next, pod({ containers: [{ name: 'a' }], hostUsers: true }));
    expect(next.spec).toEqual({ containers: [{ name: 'a' }], hostUsers: false });
  });

  test('is kept when its gate is open', () => {
    const kept = structuredClone(given);
    const isOn = (gate: string): boolean => gate === 'UserNamespacesSupport';
    new GatedFields(isOn, types).drop(pods, kept);
    expect(kept.spec).toEqual({ containers: [{ name: 'a' }], hostUsers: false });
  });

  test('is dropped from a pod template, however deep that is', () => {
    const set = object({ spec: { template: { spec: structuredClone(given.spec) } } });
    byDefault.drop(statefulsets, set);
    expect(set.spec).toEqual({ template: { spec: { containers: [{ name: 'a' }] } } });
  });

  test('is dropped from schemas inside of schemas', () => {
    const rules = (optionalOldSelf: boolean): JsonObject => ({
      'x-kubernetes-validations': [{ rule: 'true', ...(optionalOldSelf ? { optionalOldSelf } : {}) }],
    });
    const schema = (old: boolean): JsonValue => ({
      properties: { a: { items: rules(old) }, b: { additionalProperties: { allOf: [rules(old)] } } },
    });
    const definition = object({ spec: { versions: [{ schema: { openAPIV3Schema: schema(true) } }] } });
    allOff.drop(customresourcedefinitions, definition);
    expect(definition.spec).toEqual({ versions: [{ schema: { openAPIV3Schema: schema(false) } }] });
  });

  test('goes by itself where Kubernetes judges each field of a feature', () => {
    const given = object({ spec: { backoffLimitPerIndex: 1, maxFailedIndexes: 2 } });
    allOff.drop(jobs, given, object({ spec: { backoffLimitPerIndex: 3 } }));
    expect(given.spec).toEqual({ backoffLimitPerIndex: 1 });
  });
});

test('what belongs to a field goes with it', () => {
  const container = {
    name: 'a',
    volumeMounts: [{ name: 'i' }, { name: 'e' }],
    securityContext: { procMount: 'Unmasked' },
    lifecycle: { preStop: { sleep: { seconds: 1 } } },
  };
  const given = pod({
    containers: [container, { lifecycle: { postStart: { exec: {} }, preStop: { sleep: { seconds: 1 } } } }],
    volumes: [
      { name: 'i', image: {} },
      { name: 'e', emptyDir: {} },
    ],
  });
  allOff.drop(pods, given);
  expect(given.spec).toEqual({
    containers: [
      { name: 'a', volumeMounts: [{ name: 'e' }], securityContext: { procMount: 'Default' } },
      { lifecycle: { postStart: { exec: {} } } },
    ],
    volumes: [{ name: 'e', emptyDir: {} }],
  });
});

test('what nodes tell of a feature stays with the pods that use it', () => {
  const status = { resourceClaimStatuses: [{ name: 'x' }] };
  const using = object({ spec: { resourceClaims: [{ name: 'x' }] } });
  const gated = object({ spec: { resourceClaims: [{ name: 'x' }] }, status: structuredClone(status) });
  byDefault.drop(pods, gated, using);
  expect(gated.status).toEqual(status);
  const untold = object({ spec: {}, status: structuredClone(status) });
  byDefault.drop(pods, untold, object({ spec: {} }));
  expect(untold.status).toEqual({});
});

test('the fields of one gate are judged each by itself where Kubernetes does', () => {
  const given = object({ status: { modifyVolumeStatus: {}, currentVolumeAttributesClassName: 'a' } });
  byDefault.drop(claims, given, object({ status: { currentVolumeAttributesClassName: 'b' } }));
  expect(given.status).toEqual({ currentVolumeAttributesClassName: 'a' });
});

describe('a gate does not reach', () => {
  test('the restart policy of a container, which validation refuses', () => {
    const given = pod({
      containers: [{ restartPolicy: 'Always' }],
      initContainers: [{ restartPolicy: 'Always' }],
    });
    allOff.drop(pods, given);
    expect(given.spec).toEqual({ containers: [{ restartPolicy: 'Always' }], initContainers: [{}] });
  });

  test('the jobs that a cron job makes', () => {
    const spec = { jobTemplate: { spec: { managedBy: 'a', backoffLimitPerIndex: 1 } } };
    const given = object({ spec: structuredClone(spec) });
    allOff.drop(cronjobs, given);
    expect(given.spec).toEqual(spec);
  });

  test('claims that are made from templates', () => {
    const spec = {
      template: {
        spec: {
          volumes: [{ ephemeral: { volumeClaimTemplate: { spec: { volumeAttributesClassName: 'a' } } } }],
        },
      },
      volumeClaimTemplates: [
        { spec: { volumeAttributesClassName: 'a' }, status: { modifyVolumeStatus: {} } },
      ],
    };
    const given = object({ spec: structuredClone(spec) });
    allOff.drop(statefulsets, given);
    expect(given.spec).toEqual(spec);
  });
});

test('every gate that the IDL names exists, and so does every field that an annotation refers to', () => {
  const fields = [...types.names()].flatMap((name) => [...types.message(name).fields.values()]);
  const gated = fields.filter(({ gate }) => gate !== undefined);
  expect(gated.length).toBeGreaterThan(40);
  for (const { name, gate } of gated) {
    for (const one of gate?.anyOf ?? [])
      expect(problemWith(one), `${name}: ${one}`).not.toContain('unknown gate');
    for (const other of gate?.usedBy ?? []) {
      const sharesGate = gated.some(
        (field) => field.name === other && field.gate?.anyOf[0] === gate?.anyOf[0],
      );
      expect(sharesGate, `${name} is used by ${other}`).toBe(true);
    }
  }
  for (const field of fields)
    for (const name of field.ungated)
      expect(leadsTo(field, name), `${field.name} ungates ${name}`).toBe(true);
});

/** A known gate may still be one that no flag can set. */
function problemWith(gate: string): string {
  try {
    parseFeatureGates([`${gate}=true`], '--feature-gates');
    return '';
  } catch (error) {
    return String(error);
  }
}

function leadsTo({ value }: FieldSchema, name: string): boolean {
  const message = messageIn(value);
  if (message === undefined) return false;
  return [...message.fields.values()].some(
    (field) => (field.name === name && field.gate !== undefined) || leadsTo(field, name),
  );
}

function messageIn(value: ValueSchema): MessageSchema | undefined {
  if (value.kind === 'message') return value.message;
  return value.kind === 'list' ? messageIn(value.items) : undefined;
}

test('an object that is shared with the stored one is never changed', () => {
  const shared: JsonValue = { containers: [{ name: 'a', resizePolicy: [{ resourceName: 'cpu' }] }] };
  const old = pod(shared);
  byDefault.drop(pods, pod(shared), old);
  expect(shared.containers).toEqual([{ name: 'a', resizePolicy: [{ resourceName: 'cpu' }] }]);
});
