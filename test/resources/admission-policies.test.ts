import { describe, expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { mutatingadmissionpolicies } from '../../src/resources/admissionregistration/mutating-admission-policy.ts';
import { mutatingadmissionpolicybindings } from '../../src/resources/admissionregistration/mutating-admission-policy-binding.ts';
import { validatingadmissionpolicies } from '../../src/resources/admissionregistration/validating-admission-policy.ts';
import { validatingadmissionpolicybindings } from '../../src/resources/admissionregistration/validating-admission-policy-binding.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { created, manifestsIn, problemsOnCreate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Policies that are held against what is written. */

describe('validating admission policies', () => {
  const good = {
    spec: {
      paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' },
      matchConstraints: {
        resourceRules: [
          {
            operations: ['CREATE'],
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            resources: ['deployments'],
            resourceNames: ['a'],
          },
        ],
      },
      variables: [{ name: 'replicas', expression: 'object.spec.replicas' }],
      validations: [{ expression: 'variables.replicas < 5', message: 'too many', reason: 'Invalid' }],
      auditAnnotations: [{ key: 'replicas', valueExpression: '"x"' }],
      matchConditions: [{ name: 'a', expression: 'true' }],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(validatingadmissionpolicies, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.failurePolicy': 'Retry' },
      ['spec.failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"'],
    ],
    [
      { 'spec.paramKind': {} },
      ['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value'],
    ],
    [
      { 'spec.paramKind.apiVersion': 'a/b/c' },
      ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      { 'spec.paramKind': { apiVersion: 'A/V', kind: '9' } },
      [
        "spec.paramKind.apiVersion: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.paramKind.apiVersion: Invalid value: "V": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'spec.paramKind.kind: Invalid value: "9": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.paramKind.apiVersion': 'a/' },
      ['spec.paramKind.apiVersion: Invalid value: "a/": version must be specified'],
    ],
    [{ 'spec.matchConstraints': undefined }, ['spec.matchConstraints: Required value']],
    [{ 'spec.matchConstraints': {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      { 'spec.matchConstraints.matchPolicy': 'Fuzzy' },
      [
        'spec.matchConstraints.matchPolicy: Unsupported value: "Fuzzy": supported values: "Equivalent", "Exact"',
      ],
    ],
    [
      { 'spec.matchConstraints.resourceRules.0.resourceNames': ['a', 'a', 'b/c'] },
      [
        'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
        'spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain \'/\'',
      ],
    ],
    [
      { 'spec.matchConstraints.excludeResourceRules': [{}] },
      [
        'spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value',
        'spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value',
        'spec.matchConstraints.excludeResourceRules[0].operations: Required value',
        'spec.matchConstraints.excludeResourceRules[0].resources: Required value',
      ],
    ],
    [
      { 'spec.validations': [], 'spec.auditAnnotations': [] },
      [
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    ],
    [
      { 'spec.validations.0.expression': ' ' },
      ['spec.validations[0].expression: Required value: expression is not specified'],
    ],
    [
      { 'spec.validations.0.message': ' ' },
      ['spec.validations[0].message: Invalid value: " ": message must be non-empty if specified'],
    ],
    [
      { 'spec.validations.0.message': 'a\nb' },
      ['spec.validations[0].message: Invalid value: "a\\nb": message must not contain line breaks'],
    ],
    [
      { 'spec.validations.0.expression': 'variables.nope < 5' },
      [
        `spec.validations[0].expression: Invalid value: "variables.nope < 5": compilation failed: ERROR: <input>:1:10: undefined field 'nope'\n | variables.nope < 5\n | .........^`,
      ],
    ],
    [
      { 'spec.matchConditions.0.expression': ' variables.replicas' },
      [
        `spec.matchConditions[0].expression: Invalid value: "variables.replicas": compilation failed: ERROR: <input>:1:10: undefined field 'replicas'\n | variables.replicas\n | .........^`,
      ],
    ],
    [
      { 'spec.auditAnnotations.0.valueExpression': '1' },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type]',
      ],
    ],
    [
      { 'spec.validations.0.messageExpression': ' ' },
      ['spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified'],
    ],
    [
      { 'spec.validations.0.reason': 'Timeout' },
      [
        'spec.validations[0].reason: Unsupported value: "Timeout": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      ],
    ],
    [
      { 'spec.variables.0.name': 'in', 'spec.validations.0.expression': 'true' },
      ['spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier'],
    ],
    [
      { 'spec.variables.0': { name: '', expression: '' }, 'spec.validations.0.expression': 'true' },
      [
        'spec.variables[0].expression: Required value: expression is not specified',
        'spec.variables[0].name: Required value: name is not specified',
      ],
    ],
    [
      {
        'spec.auditAnnotations': [
          { key: 'a', valueExpression: '' },
          { key: 'a', valueExpression: '"x"' },
          { key: '', valueExpression: '"x"' },
        ],
      },
      [
        'spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified',
        'spec.auditAnnotations[1].key: Duplicate value: "a"',
        'spec.auditAnnotations[2].key: Invalid value: "it/": name part must be non-empty',
        "spec.auditAnnotations[2].key: Invalid value: \"it/\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.auditAnnotations[2].key: Required value',
      ],
    ],
    [
      { 'spec.matchConditions.0.name': 'a b' },
      [
        "spec.matchConditions[0].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.variables': [{ name: 'a-b', expression: '1 +' }], 'spec.validations.0.expression': 'true' },
      [
        `spec.variables[0].expression: Invalid value: "1 +": compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^`,
        'spec.variables[0].name: Invalid value: "a-b": name is not a valid CEL identifier',
      ],
    ],
    [
      { 'spec.validations.0.messageExpression': 'authorizer.path("/").check("get").reason()' },
      [
        'spec.validations[0].messageExpression: Invalid value: "authorizer.path(\\"/\\").check(\\"get\\").reason()": compilation failed: ERROR: <input>:1:1: undeclared reference to \'authorizer\' (in container \'\')\n | authorizer.path("/").check("get").reason()\n | ^',
      ],
    ],
    [
      { 'spec.auditAnnotations.0.valueExpression': `"${'x'.repeat(5 * 1024)}"` },
      ['spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length'],
    ],
    [
      {
        'spec.auditAnnotations': Array.from({ length: 21 }, (_, at) => ({
          key: `k${at}`,
          valueExpression: '"x"',
        })),
      },
      ['spec.auditAnnotations: Invalid value: …: must not have more than 20 auditAnnotations'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(validatingadmissionpolicies, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      {
        typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] },
        conditions: [
          { type: 'A', status: 'Maybe', lastTransitionTime: null, reason: '', message: '' },
          { type: 'A', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: '-', message: '' },
        ],
      },
      [
        'status.conditions[0].lastTransitionTime: Required value: must be set',
        'status.conditions[0].reason: Required value: must be set',
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
        "status.conditions[1].reason: Invalid value: \"-\": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
        'status.conditions[1].type: Duplicate value: "A"',
        'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
        'status.typeChecking.expressionWarnings[0].warning: Required value',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(validatingadmissionpolicies, good, { before, after, view }))).toEqual(
      lines,
    );
  });

  test('a table shows how many validations there are, and of what the parameters are', () => {
    const cells = validatingadmissionpolicies.cells(created(validatingadmissionpolicies, good), 0);
    expect(cells).toEqual(['it', 1, 'example.com/v1/Limit', '<unknown>']);
  });
});

describe('mutating admission policies', () => {
  const good = {
    spec: {
      paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' },
      matchConstraints: {
        resourceRules: [
          {
            operations: ['CREATE', 'UPDATE', 'CONNECT'],
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            resources: ['deployments'],
          },
        ],
      },
      variables: [{ name: 'replicas', expression: 'object.spec.replicas + params.more' }],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{spec: Object.spec{replicas: variables.replicas}}' },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: '[JSONPatch{op: "remove", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b")}]',
          },
        },
      ],
      matchConditions: [{ name: 'a', expression: 'true' }],
      reinvocationPolicy: 'Never',
    },
  };

  test('one that is right in all its fields is taken, with the failurePolicy Fail', () => {
    expect(manifestsIn(36).problemsOnCreate(mutatingadmissionpolicies, good)).toEqual([]);
    expect(manifestsIn(36).created(mutatingadmissionpolicies, good).spec).toMatchObject({
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} },
    });
  });

  const at = 'spec.mutations[0]';
  const rule = good.spec.matchConstraints.resourceRules[0];

  test.each<Variation>([
    [
      { spec: {} },
      [
        'spec.matchConstraints: Required value',
        'spec.mutations: Required value: mutations must contain at least one item',
        'spec.reinvocationPolicy: Required value',
      ],
    ],
    [
      { 'spec.failurePolicy': 'Retry' },
      ['spec.failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"'],
    ],
    [
      { 'spec.reinvocationPolicy': 'Often' },
      ['spec.reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"'],
    ],
    [{ 'spec.paramKind.kind': '' }, ['spec.paramKind.kind: Required value']],
    [{ 'spec.matchConstraints.resourceRules': [] }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      { 'spec.matchConstraints.resourceRules': [{ ...rule, operations: ['DELETE'] }] },
      [
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      ],
    ],
    [{ 'spec.matchConditions': [{ expression: 'true' }] }, ['spec.matchConditions[0].name: Required value']],
    [
      { 'spec.matchConditions': [{ name: 'a', expression: '1' }] },
      [expect.stringContaining('spec.matchConditions[0].expression: Invalid value: "1"') as never],
    ],
    [{ 'spec.mutations': [{}] }, [`${at}.patchType: Required value`]],
    [
      { 'spec.mutations': [{ patchType: 'Merge' }] },
      [`${at}.patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"`],
    ],
    [
      { 'spec.mutations': [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }] },
      [
        `${at}.applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch`,
        `${at}.jsonPatch: Required value: must be specified when patchType is JSONPatch`,
      ],
    ],
    [
      { 'spec.mutations': [{ patchType: 'ApplyConfiguration', jsonPatch: { expression: '[]' } }] },
      [
        `${at}.applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration`,
        `${at}.jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`,
      ],
    ],
    [
      { 'spec.mutations': [{ patchType: 'JSONPatch', jsonPatch: { expression: ' ' } }] },
      [`${at}.jsonPatch.expression: Required value`],
    ],
    [
      { 'spec.mutations': [{ patchType: 'JSONPatch', jsonPatch: { expression: 'object' } }] },
      [`${at}.jsonPatch.expression: Invalid value: "object": must evaluate to list(JSONPatch) but got dyn`],
    ],
    [
      {
        'spec.mutations': [
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Nope{}}' } },
        ],
      },
      [
        `${at}.applyConfiguration.expression: Invalid value: "Object{spec: Nope{}}": compilation failed: ERROR: <input>:1:18: undeclared reference to 'Nope' (in container '')\n | Object{spec: Nope{}}\n | .................^`,
      ],
    ],
    [
      {
        'spec.variables': [
          { name: 'a', expression: 'Object{}' },
          { name: 'replicas', expression: '1' },
        ],
      },
      [
        "spec.variables[0].expression: Invalid value: \"Object{}\": compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{}\n | ......^",
      ],
    ],
  ])('with %j it is refused: %j', (changes, lines) => {
    expect(manifestsIn(36).problemsOnCreate(mutatingadmissionpolicies, varyAll(good, changes))).toEqual(
      lines,
    );
  });

  test('a binding names its policy, and does not match deletions', () => {
    const problems = (spec: JsonObject): readonly string[] =>
      manifestsIn(36).problemsOnCreate(mutatingadmissionpolicybindings, { spec });
    expect(problems({ policyName: 'p', paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } })).toEqual(
      [],
    );
    expect(problems({ paramRef: {} })).toEqual([
      'spec.paramRef: Required value: one of name or selector must be specified',
      'spec.policyName: Required value',
    ]);
    expect(
      problems({ policyName: 'p', matchResources: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } }),
    ).toEqual([
      'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ]);
  });
});

describe('bindings of admission policies', () => {
  const good = {
    spec: {
      policyName: 'limits.example.com',
      paramRef: { name: 'a', namespace: 'b', parameterNotFoundAction: 'Deny' },
      validationActions: ['Deny', 'Audit'],
      matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } },
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(validatingadmissionpolicybindings, good)).toEqual([]);
  });

  test.each<Variation>([
    [{ 'spec.policyName': '' }, ['spec.policyName: Required value']],
    [
      { 'spec.policyName': 'A' },
      [
        "spec.policyName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.paramRef': {} },
      [
        'spec.paramRef.parameterNotFoundAction: Required value',
        'spec.paramRef: Required value: one of name or selector must be specified',
      ],
    ],
    [
      { 'spec.paramRef.selector': {} },
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
      ],
    ],
    [
      { 'spec.paramRef.parameterNotFoundAction': 'Guess' },
      [
        'spec.paramRef.parameterNotFoundAction: Unsupported value: "Guess": supported values: "Deny", "Allow"',
      ],
    ],
    [
      { 'spec.validationActions': [] },
      ['spec.validationActions: Required value: at least one validation action is required'],
    ],
    [
      { 'spec.validationActions': ['Deny', 'Warn', 'Deny', 'Shout'] },
      [
        'spec.validationActions: Invalid value: []admissionregistration.ValidationAction{"Deny", "Warn", "Deny", "Shout"}: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
        'spec.validationActions[2]: Duplicate value: "Deny"',
        'spec.validationActions[3]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"',
      ],
    ],
    [
      { 'spec.matchResources.resourceRules': [{}] },
      [
        'spec.matchResources.resourceRules[0].apiGroups: Required value',
        'spec.matchResources.resourceRules[0].apiVersions: Required value',
        'spec.matchResources.resourceRules[0].operations: Required value',
        'spec.matchResources.resourceRules[0].resources: Required value',
      ],
    ],
    [
      {
        'spec.paramRef': {
          selector: { matchExpressions: [{ key: 'a', operator: 'Maybe' }] },
          parameterNotFoundAction: 'Allow',
        },
      },
      [
        'spec.paramRef.selector.matchExpressions[0].operator: Invalid value: "Maybe": not a valid selector operator',
      ],
    ],
    [{ 'spec.paramRef.name': 'a/b' }, ['spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'']],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(validatingadmissionpolicybindings, varyAll(good, changes)))).toEqual(
      lines,
    );
  });
});

test.each<[Minor, string, string]>([
  [33, 'name is not a valid CEL identifier', 'message must not contain line breaks'],
  [34, 'must be a valid CEL identifier', 'must not contain line breaks'],
])('1.%i says what is wrong with texts in its own words', (minor, name, message) => {
  const spec = {
    matchConstraints: { resourceRules: [] },
    variables: [{ name: '1', expression: 'true' }],
    validations: [
      { expression: 'true', message: 'a\nb' },
      { expression: 'true', message: ' ' },
    ],
  };
  const problems = manifestsIn(minor).problemsOnCreate(validatingadmissionpolicies, { spec });
  expect(problems).toContain(`spec.variables[0].name: Invalid value: "1": ${name}`);
  expect(problems).toContain(`spec.validations[0].message: Invalid value: "a\\nb": ${message}`);
  const blank = message.replace('must not contain line breaks', 'must be non-empty if specified');
  expect(problems).toContain(`spec.validations[1].message: Invalid value: " ": ${blank}`);
});

const GATE = 'ManifestBasedAdmissionControlConfig';
const STATIC = { metadata: { name: 'a.static.k8s.io' } };

test.each(builtInResources(36).filter(({ group }) => group === 'admissionregistration.k8s.io'))(
  'names of files are for files alone, and otherwise warned of since 1.36: $resource',
  (definition) => {
    const ofName = (minor: Minor, on: boolean) =>
      manifestsIn(minor, { [GATE]: on })
        .problemsOnCreate(definition, STATIC)
        .filter((line) => line.startsWith('metadata.name'));
    expect(ofName(36, true)).toEqual([
      'metadata.name: Invalid value: "a.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    ]);
    expect(ofName(36, false)).toEqual([]);
    const warnings = (minor: Minor, on: boolean, isUpdate = false) => {
      const object = { kind: '', apiVersion: '', ...STATIC };
      const isOn = Object.assign((gate: string) => on && gate === GATE, { minor });
      return definition.strategy.warnings?.(object, isUpdate ? object : undefined, isOn).length;
    };
    expect([warnings(36, false), warnings(36, true), warnings(36, true, true), warnings(35, false)]).toEqual([
      1, 0, 1, 0,
    ]);
  },
);
