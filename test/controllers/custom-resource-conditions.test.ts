import { expect, test } from 'vitest';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../../src/api/types/apiextensions/v1.ts';
import { withFindings } from '../../src/controllers/custom-resources/definition-conditions.ts';
import { structuralViolations } from '../../src/resources/apiextensions/schema/violations.ts';
import { definitionOf } from '../kit/definitions.ts';

const NAMES = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
const ACCEPTED = { accepted: NAMES };
const REFUSED = {
  accepted: { ...NAMES, kind: '' },
  conflict: { reason: 'KindConflict', message: '"Widget" is already in use' },
} as const;
const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-02-02T00:00:00Z';

function definition(
  conditions: CustomResourceDefinitionCondition[] = [],
  more = {},
): CustomResourceDefinition {
  const made = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const status = { conditions, acceptedNames: NAMES, storedVersions: ['v1'] };
  return { ...made, spec: { ...made.spec, ...more }, status };
}

const condition = (
  type: string,
  status: string,
  reason: string,
  message: string,
  lastTransitionTime = BEFORE,
) => ({
  ...{ type, status, lastTransitionTime, reason, message },
});

const GOOD = condition('NamesAccepted', 'True', 'NoConflicts', 'no conflicts found');
const SERVED = condition(
  'Established',
  'True',
  'InitialNamesAccepted',
  'the initial names have been accepted',
);
const conditionsAfter = (
  of: CustomResourceDefinition,
  names: Parameters<typeof withFindings>[1]['names'],
  violations = '',
) => withFindings(of, { names, violations }, NOW).conditions;

test('a status that says everything stays the very same', () => {
  const said = definition([SERVED, GOOD]);
  expect(withFindings(said, { names: ACCEPTED, violations: '' }, NOW)).toBe(said.status);
});

test('a condition keeps its time as long as it keeps its status', () => {
  const before = condition('NamesAccepted', 'False', 'PluralConflict', 'other', BEFORE);
  expect(conditionsAfter(definition([before, SERVED]), REFUSED)).toEqual([
    condition('NamesAccepted', 'False', 'KindConflict', '"Widget" is already in use', BEFORE),
    SERVED,
  ]);
  expect(conditionsAfter(definition([before, SERVED]), ACCEPTED)).toEqual([
    { ...GOOD, lastTransitionTime: NOW },
    SERVED,
  ]);
});

test('what others say of a definition stays', () => {
  const other = condition('Terminating', 'True', 'InstanceDeletionPending', 'x');
  expect(conditionsAfter(definition([other]), ACCEPTED)?.[0]).toBe(other);
});

test('a definition whose webhook has unreadable certificates is not served until they are corrected', () => {
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: { url: 'https://a.b', caBundle: 'eA==' }, conversionReviewVersions: ['v1'] },
  };
  const broken = definition([], { conversion });
  const refused = condition(
    'Established',
    'False',
    'InvalidCABundle',
    'The conversion webhook CABundle is invalid',
    NOW,
  );
  const conditions = conditionsAfter(broken, ACCEPTED) ?? [];
  expect(conditions).toEqual([{ ...GOOD, lastTransitionTime: NOW }, refused]);
  expect(conditionsAfter(definition([...conditions]), ACCEPTED)?.[1]).toEqual({
    ...SERVED,
    lastTransitionTime: NOW,
  });
  expect(conditionsAfter(definition([GOOD, SERVED], { conversion }), ACCEPTED)).toEqual([GOOD, SERVED]);
});

test('schemas from before v1 that are not structural are reported, and the condition goes when they are corrected', () => {
  const schema = { openAPIV3Schema: { type: 'object', properties: { a: {}, b: { type: 'array' } } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const old = definition([GOOD, SERVED], { versions, preserveUnknownFields: true });
  const violations = structuralViolations(old);
  expect(violations).toBe(
    '[spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields, spec.versions[0].schema.openAPIV3Schema.properties[b].items: Required value: must be specified]',
  );
  const conditions = conditionsAfter(old, ACCEPTED, violations) ?? [];
  expect(conditions[2]).toEqual(condition('NonStructuralSchema', 'True', 'Violations', violations, NOW));
  const mended = definition([...conditions]);
  expect(structuralViolations(mended)).toBe('');
  expect(conditionsAfter(mended, ACCEPTED)).toEqual([GOOD, SERVED]);
});

test.each<[string | undefined, string, string, string]>([
  [
    undefined,
    'False',
    'MissingAnnotation',
    'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
  ['unapproved', 'False', 'UnapprovedAnnotation', 'not approved: "unapproved"'],
  ['https://a.b/1', 'True', 'ApprovedAnnotation', 'approved in https://a.b/1'],
  [
    'nonsense',
    'False',
    'InvalidAnnotation',
    'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
  ],
])('a protected group with the approval %j is %s, %s', (approval, status, reason, message) => {
  const of = definition([], { group: 'x.k8s.io' });
  const annotations = approval === undefined ? {} : { 'api-approved.kubernetes.io': approval };
  const found = conditionsAfter({ ...of, metadata: { ...of.metadata, annotations } }, ACCEPTED);
  expect(found?.[2]).toEqual(
    condition('KubernetesAPIApprovalPolicyConformant', status, reason, message, NOW),
  );
});

test('a status without stored versions gets the one that is stored, and keeps those that it has', () => {
  const { status: _, ...bare } = definition();
  expect(withFindings(bare, { names: ACCEPTED, violations: '' }, NOW)).toMatchObject({
    acceptedNames: NAMES,
    storedVersions: ['v1'],
  });
  const of = definition();
  const stored = { ...of, status: { ...of.status, storedVersions: ['v0', 'v1'] } };
  expect(withFindings(stored, { names: ACCEPTED, violations: '' }, NOW).storedVersions).toEqual(['v0', 'v1']);
});
