import { describe, expect, test } from 'vitest';
import type { Gates } from '../../src/api/feature-gates.ts';
import type { ObjectMeta, OwnerReference } from '../../src/api/object-meta.ts';
import { validateObjectMeta } from '../../src/object/validate-metadata.ts';

const gatesOf = (minor: 31 | 34): Gates => Object.assign(() => false, { minor });

function errorsOf(meta: ObjectMeta, finalizersNeedDomains = true, minor: 31 | 34 = 31): string[] {
  const rules = {
    namespaced: false,
    strategy: { nameRule: 'dns-subdomain', finalizersNeedDomains },
  } as const;
  const errors = validateObjectMeta({ name: 'it', ...meta }, rules, gatesOf(minor));
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('owners', () => {
  const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a', uid: 'u' };

  test.each([
    [{ uid: '' }, 31, ['metadata.ownerReferences.uid: Invalid value: "": uid must not be empty']],
    [{ kind: '' }, 34, ['metadata.ownerReferences.kind: Invalid value: "": must not be empty']],
    [
      { apiVersion: '/' },
      34,
      ['metadata.ownerReferences.apiVersion: Invalid value: "/": version must not be empty'],
    ],
    [{ apiVersion: 'v1' }, 31, []],
    [
      { apiVersion: 'v1', kind: 'Event' },
      31,
      ['metadata.ownerReferences: Invalid value: "a": /v1, Kind=Event is disallowed from being an owner'],
    ],
  ] as const)('%j in 1.%i', (change, minor, expected) => {
    expect(errorsOf({ ownerReferences: [{ ...owner, ...change }] }, true, minor)).toEqual(expected);
  });

  test('only one of them is the controller', () => {
    const [one, two] = ['a', 'b'].map((name) => ({ ...owner, name, controller: true }));
    const [error] = errorsOf({ ownerReferences: [one ?? owner, two ?? owner] });
    expect(error).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for Deployment/a and Deployment/b',
    );
  });
});

test('finalizers have a domain, unless Kubernetes has always known them or the resource takes any', () => {
  const finalizers = ['orphan', 'foregroundDeletion', 'kubernetes', 'example.com/it', 'mine'];
  expect(errorsOf({ finalizers })).toEqual([
    'metadata.finalizers[4]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  ]);
  expect(errorsOf({ finalizers }, false)).toEqual([]);
});
