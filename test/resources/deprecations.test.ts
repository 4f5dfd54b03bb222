import { expect, test } from 'vitest';
import { MINORS } from '../../src/api/emulation.ts';
import { builtInResources } from '../../src/resources/all.ts';

/** What clients of a version of a resource are warned of, by version of Kubernetes. Undefined: it is not there. */
const warningsOf = (resource: string, version: string): (string | undefined)[] =>
  MINORS.map((minor) => {
    const served = builtInResources(minor)
      .filter((definition) => definition.resource === resource)
      .flatMap(({ versions }) => versions)
      .find((one) => one.version === version);
    return served && (served.deprecation?.warning ?? '');
  });

const ENDPOINTS = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';
const STATUSES = 'v1 ComponentStatus is deprecated in v1.19+';
const CLASSES =
  'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass';
const SLICES = 'resource.k8s.io/v1beta1 ResourceSlice is deprecated in v1.35+, unavailable in v1.38+';
const POLICIES =
  'admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy is deprecated in v1.31+, unavailable in v1.34+';

test.each<[string, string, (string | undefined)[]]>([
  ['pods', 'v1', ['', '', '', '', '', '']],
  ['endpoints', 'v1', ['', '', ENDPOINTS, ENDPOINTS, ENDPOINTS, ENDPOINTS]],
  ['componentstatuses', 'v1', [STATUSES, STATUSES, STATUSES, STATUSES, STATUSES, STATUSES]],
  ['volumeattributesclasses', 'v1beta1', ['', '', '', CLASSES, CLASSES, CLASSES]],
  ['resourceslices', 'v1beta1', [undefined, '', '', '', SLICES, SLICES]],
  ['validatingadmissionpolicies', 'v1beta1', [POLICIES, POLICIES, POLICIES, undefined, undefined, undefined]],
])('clients of %s %s are warned in the versions that deprecate it', (resource, version, warnings) => {
  expect(warningsOf(resource, version)).toEqual(warnings);
});

test('a version says when it goes, and is gone then', () => {
  for (const minor of MINORS)
    for (const { versions } of builtInResources(minor))
      for (const { type, deprecation } of versions) {
        const [, gone = '99'] = (deprecation?.removedRelease ?? '').split('.');
        expect(Number(gone), `${type} in 1.${minor}`).toBeGreaterThan(minor);
      }
});
