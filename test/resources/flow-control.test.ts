import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { flowschemas } from '../../src/resources/flowcontrol/flow-schema.ts';
import { prioritylevelconfigurations } from '../../src/resources/flowcontrol/priority-level-configuration.ts';
import { created, problemsOnCreate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** How requests are classified and queued. */

const types = loadTypes();

const EXEMPT = {
  priorityLevelConfiguration: { name: 'exempt' },
  matchingPrecedence: 1,
  rules: [
    {
      subjects: [{ kind: 'Group', group: { name: 'system:masters' } }],
      resourceRules: [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
      ],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    },
  ],
};

describe('flow schemas', () => {
  const good = {
    spec: {
      priorityLevelConfiguration: { name: 'workload-low' },
      matchingPrecedence: 500,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [
            { kind: 'User', user: { name: 'jane' } },
            { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'default' } },
          ],
          resourceRules: [
            { verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['*'], namespaces: ['default'] },
          ],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz/*'] }],
        },
      ],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(flowschemas, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.matchingPrecedence': -1 },
      ['spec.matchingPrecedence: Invalid value: -1: must be a positive value'],
    ],
    [
      { 'spec.matchingPrecedence': 10001 },
      ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
    ],
    [
      { 'spec.matchingPrecedence': 1 },
      [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      ],
    ],
    [
      { 'spec.distinguisherMethod.type': 'ByHour' },
      [
        'spec.distinguisherMethod.type: Unsupported value: "ByHour": supported values: "ByNamespace", "ByUser"',
      ],
    ],
    [
      { 'spec.priorityLevelConfiguration.name': '' },
      ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level'],
    ],
    [
      { 'spec.priorityLevelConfiguration.name': 'A' },
      [
        "spec.priorityLevelConfiguration.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.rules.0': { subjects: [] } },
      [
        'spec.rules[0].subjects: Required value: subjects must contain at least one value',
        'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
      ],
    ],
    [
      { 'spec.rules.0.subjects.0': { kind: 'Robot' } },
      [
        'spec.rules[0].subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"',
      ],
    ],
    [
      { 'spec.rules.0.subjects.0': { kind: 'User' } },
      ["spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'"],
    ],
    [
      { 'spec.rules.0.subjects.0': { kind: 'User', user: { name: '' }, group: { name: 'a' } } },
      [
        "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
        'spec.rules[0].subjects[0].user.name: Required value',
      ],
    ],
    [
      { 'spec.rules.0.subjects.1.serviceAccount': { name: 'A', namespace: '' } },
      [
        "spec.rules[0].subjects[1].serviceAccount.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.rules[0].subjects[1].serviceAccount.namespace: Required value: must specify namespace for service account',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.verbs': ['read'] },
      [
        'spec.rules[0].resourceRules[0].verbs: Unsupported value: []string{"read"}: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.verbs': ['*', 'get'] },
      [
        'spec.rules[0].resourceRules[0].verbs: Invalid value: []string{"*", "get"}: if \'*\' is present, must not specify other verbs',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.namespaces': [] },
      [
        'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.namespaces': ['A'] },
      [
        "spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: \"A\": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.namespaces': ['*', 'a'] },
      [
        'spec.rules[0].resourceRules[0].namespaces: Invalid value: []string{"*", "a"}: if \'*\' is present, must not specify other namespaces',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0.apiGroups': ['*', 'a'], 'spec.rules.0.resourceRules.0.resources': [] },
      [
        'spec.rules[0].resourceRules[0].apiGroups: Invalid value: []string{"*", "a"}: if \'*\' is present, must not specify other api groups',
        'spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      { 'spec.rules.0.nonResourceRules.0.nonResourceURLs': ['healthz', '/a b', '/a//b', '/*a', ''] },
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "healthz": must start with slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/a b": must not contain white-space',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a//b": must not contain double slash',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/*a": wildcard can only do suffix matching',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "": must not be empty',
      ],
    ],
    [
      { 'spec.rules.0.nonResourceRules.0.nonResourceURLs': ['*', '/a'] },
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: []string{"*", "/a"}: if \'*\' is present, must not specify other non-resource URLs',
      ],
    ],
    [
      { 'spec.rules.0.resourceRules.0': { clusterScope: true }, 'spec.rules.0.nonResourceRules.0': {} },
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value',
        'spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at least one value',
        'spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource',
        'spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value',
      ],
    ],
    [
      { 'spec.rules.0.subjects.0': { kind: 'constructor' } },
      [
        'spec.rules[0].subjects[0].kind: Unsupported value: "constructor": supported values: "Group", "ServiceAccount", "User"',
      ],
    ],
    [
      { 'spec.rules.0.subjects.1.serviceAccount': { name: '', namespace: 'A' } },
      [
        'spec.rules[0].subjects[1].serviceAccount.name: Required value',
        'spec.rules[0].subjects[1].serviceAccount.namespace: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(flowschemas, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [{}, { conditions: [{ type: 'Dangling', status: 'True' }] }, []],
    [
      {},
      { conditions: [{ type: 'Dangling', status: 'True' }, { type: 'Dangling' }, { status: 'True' }] },
      [
        'status.conditions[1].type: Duplicate value: "Dangling"',
        'status.conditions[2].type: Required value: must not be empty',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(flowschemas, good, { before, after, view }))).toEqual(lines);
  });

  test('the schema that exempts administrators cannot be another', () => {
    const exempt = { metadata: { name: 'exempt' }, spec: EXEMPT };
    expect(problemsOnCreate(flowschemas, exempt)).toEqual([]);
    const [line = ''] = problemsOnCreate(flowschemas, {
      ...good,
      ...varyAll(exempt, { 'spec.matchingPrecedence': 2 }),
    });
    expect(line).toMatch(/^spec: Invalid value: .*: spec of 'exempt' must equal the fixed value$/);
  });

  test('precedence is 1000 unless another is given', () => {
    expect(created(flowschemas, varyAll(good, { 'spec.matchingPrecedence': undefined })).spec).toMatchObject({
      matchingPrecedence: 1000,
    });
  });
});

describe('priority levels', () => {
  const good = { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(prioritylevelconfigurations, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.type': 'Exempt' },
      [
        'spec.limited: Forbidden: must be nil if the type is not Limited',
        "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
      ],
    ],
    [
      { 'spec.type': 'Open' },
      ['spec.type: Unsupported value: "Open": supported values: "Exempt", "Limited"'],
    ],
    [{ 'spec.limited': undefined }, ['spec.limited: Required value: must not be empty when type is Limited']],
    [{ 'spec.exempt': {} }, ['spec.exempt: Forbidden: must be nil if the type is Limited']],
    [
      {
        'spec.limited.nominalConcurrencyShares': -1,
        'spec.limited.lendablePercent': 101,
        'spec.limited.borrowingLimitPercent': -1,
      },
      [
        'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
        'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
        'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      ],
    ],
    [
      { 'spec.limited.limitResponse': { type: 'Reject', queuing: {} } },
      [
        'spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited',
      ],
    ],
    [
      { 'spec.limited.limitResponse': { type: 'Queue' } },
      [
        'spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
      ],
    ],
    [
      { 'spec.limited.limitResponse': { type: 'Drop' } },
      ['spec.limited.limitResponse.type: Unsupported value: "Drop": supported values: "Queue", "Reject"'],
    ],
    [
      { 'spec.limited.limitResponse.queuing': { queues: -1, handSize: -1, queueLengthLimit: -1 } },
      [
        'spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive',
        'spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive',
        'spec.limited.limitResponse.queuing.queues: Invalid value: -1: must be positive',
      ],
    ],
    [
      { 'spec.limited.limitResponse.queuing': { queues: 20000000, handSize: 2 } },
      [
        'spec.limited.limitResponse.queuing.queues: Invalid value: 20000000: must not be greater than 10000000',
      ],
    ],
    [
      { 'spec.limited.limitResponse.queuing': { queues: 64, handSize: 65 } },
      [
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)',
      ],
    ],
    [
      { 'spec.limited.limitResponse.queuing': { queues: 1024, handSize: 8 } },
      [
        'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 1024 and handSize 8 should not be greater than 60',
      ],
    ],
    [
      { metadata: { name: 'catch-all' } },
      ["spec: Invalid value: …: spec of 'catch-all' must equal the fixed value"],
    ],
    [
      { metadata: { name: 'exempt' } },
      [
        "spec.type: Invalid value: \"Limited\": type must be 'Exempt' if and only if name is 'exempt'",
        "spec: Invalid value: …: spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
      ],
    ],
    [
      {
        metadata: {
          name: 'it',
          annotations: { 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' },
        },
      },
      [
        "metadata.annotations: Forbidden: annotation 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares' is forbidden",
      ],
    ],
    [
      {
        metadata: { name: 'exempt' },
        spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: -1, lendablePercent: -1 } },
      },
      [
        'spec.exempt.lendablePercent: Invalid value: -1: must be between 0 and 100, inclusive',
        'spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(prioritylevelconfigurations, varyAll(good, changes)))).toEqual(lines);
  });

  test('a limited level has 30 shares, lends none and deals hands of 8 from 64 queues', () => {
    expect(created(prioritylevelconfigurations, good).spec).toEqual({
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 30,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
        lendablePercent: 0,
      },
    });
  });

  test('the defaults of v1 are those of v1beta3', () => {
    const levels = { spec: { limited: { limitResponse: { type: 'Queue', queuing: {} } } } };
    const decoded = (type: string, value: JsonObject): JsonObject =>
      decodeObject(value, types.message(`flowcontrol/${type}`)).object;
    expect(decoded('v1beta3.FlowSchema', { spec: {} })).toEqual(decoded('v1.FlowSchema', { spec: {} }));
    expect(decoded('v1beta3.PriorityLevelConfiguration', levels)).toMatchObject({
      spec: { limited: { limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } } } },
    });
  });

  test('zero shares survive v1beta3, which has no other way to say so than an annotation', () => {
    const [, v1beta3] = prioritylevelconfigurations.versions;
    const zero = created(
      prioritylevelconfigurations,
      varyAll(good, { 'spec.limited.nominalConcurrencyShares': 0 }),
    );
    const shown = v1beta3?.conversion?.fromStorage(zero);
    expect(shown?.metadata.annotations).toEqual({
      'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '',
    });
    expect(shown && v1beta3?.conversion?.toStorage(shown).spec).toEqual(zero.spec);
    const unsaid = shown && v1beta3?.conversion?.toStorage({ ...shown, metadata: { name: 'it' } });
    expect(unsaid?.spec).toMatchObject({ limited: { nominalConcurrencyShares: 30 } });
  });
});
