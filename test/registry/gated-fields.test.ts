import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { MessageSchema, ValueSchema } from '../../src/api/schema.ts';
import { apiFlags } from '../../src/options/api.ts';
import { GATED_FIELDS } from '../../src/registry/gated-field-table.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import { BUILT_IN_RESOURCES } from '../../src/resources/all.ts';

const types = loadTypes();
const byDefault = new GatedFields((gate) => apiFlags.featureGates.read([]).isEnabled(gate));
const pods = { group: '', resource: 'pods' };
const claims = { group: '', resource: 'persistentvolumeclaims' };

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
    new GatedFields(isOn).drop(pods, kept);
    expect(kept.spec).toEqual({ containers: [{ name: 'a' }], hostUsers: false });
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
    containers: [container],
    volumes: [
      { name: 'i', image: {} },
      { name: 'e', emptyDir: {} },
    ],
  });
  new GatedFields(() => false).drop(pods, given);
  expect(given.spec).toEqual({
    containers: [{ name: 'a', volumeMounts: [{ name: 'e' }], securityContext: { procMount: 'Default' } }],
    volumes: [{ name: 'e', emptyDir: {} }],
  });
});

test('what nodes tell of a feature stays with the pods that use it', () => {
  const status = { resourceClaimStatuses: [{ name: 'x' }] };
  const using = object({ spec: { resourceClaims: [{ name: 'x' }] } });
  const told = object({ spec: { resourceClaims: [{ name: 'x' }] }, status: structuredClone(status) });
  byDefault.drop(pods, told, using);
  expect(told.status).toEqual(status);
  const untold = object({ spec: {}, status: structuredClone(status) });
  byDefault.drop(pods, untold, object({ spec: {} }));
  expect(untold.status).toEqual({});
});

test('the fields of one gate are judged each by itself where Kubernetes does', () => {
  const given = object({ status: { modifyVolumeStatus: {}, currentVolumeAttributesClassName: 'a' } });
  byDefault.drop(claims, given, object({ status: { currentVolumeAttributesClassName: 'b' } }));
  expect(given.status).toEqual({ currentVolumeAttributesClassName: 'a' });
});

test('every path of the table leads to a field of its type, and every gate is one', () => {
  const known = new Set<string>();
  for (const { group, resource, storage } of BUILT_IN_RESOURCES) {
    known.add(`${group}/${resource}`);
    for (const { gate, paths, usedBy = [] } of GATED_FIELDS[`${group}/${resource}`] ?? []) {
      for (const one of gate.split('|')) expect(problemWith(one), one).not.toContain('unknown gate');
      for (const path of [...paths, ...usedBy])
        expect(leads(types.message(storage.type), path.split('.')), `${resource} ${path}`).toBe(true);
    }
  }
  expect(Object.keys(GATED_FIELDS).filter((key) => !known.has(key))).toEqual([]);
});

/** A gate that is known may still be one that nobody can set. */
function problemWith(gate: string): string {
  try {
    apiFlags.featureGates.read([`${gate}=true`]);
    return '';
  } catch (error) {
    return String(error);
  }
}

function leads(schema: MessageSchema, [name = '', ...rest]: string[]): boolean {
  const field = schema.fields.get(name);
  if (field === undefined || rest.length === 0) return field !== undefined;
  const inner = messageIn(field.value);
  return inner !== undefined && leads(inner, rest);
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
