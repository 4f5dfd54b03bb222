import { describe, expect, test } from 'vitest';
import {
  mutatingwebhookconfigurations,
  validatingwebhookconfigurations,
} from '../../src/resources/admissionregistration/webhook-configuration.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Webhooks that are asked before something is written. */

describe('validating webhooks', () => {
  const good = {
    webhooks: [
      {
        name: 'pods.example.com',
        clientConfig: { service: { namespace: 'default', name: 'hook', path: '/validate' } },
        rules: [
          {
            operations: ['CREATE'],
            apiGroups: ['*'],
            apiVersions: ['v1'],
            resources: ['pods', 'pods/status'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: [{ name: 'ours', expression: 'true' }],
      },
    ],
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(validatingwebhookconfigurations, good)).toEqual([]);
  });

  test.each<Variation>([
    [{ 'webhooks.0.name': '' }, ['webhooks[0].name: Required value']],
    [
      { 'webhooks.0.name': 'example.com' },
      [
        'webhooks[0].name: Invalid value: "example.com": should be a domain with at least three segments separated by dots',
      ],
    ],
    [
      { 'webhooks.0.name': 'A' },
      [
        "webhooks[0].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'webhooks.0.sideEffects': undefined },
      ['webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun'],
    ],
    [
      { 'webhooks.0.sideEffects': 'Some' },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      { 'webhooks.0.timeoutSeconds': 31 },
      ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
    [
      { 'webhooks.0.failurePolicy': 'Retry', 'webhooks.0.matchPolicy': 'Fuzzy' },
      [
        'webhooks[0].failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"',
        'webhooks[0].matchPolicy: Unsupported value: "Fuzzy": supported values: "Equivalent", "Exact"',
      ],
    ],
    [
      { 'webhooks.0.clientConfig': {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      { 'webhooks.0.clientConfig.url': 'https://example.com' },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      { 'webhooks.0.clientConfig': { url: 'http://user@example.com/a?b#c' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "b": query parameters are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "user": user information is not permitted in the URL',
      ],
    ],
    [
      { 'webhooks.0.clientConfig': { url: 'https:///a' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
      ],
    ],
    [
      { 'webhooks.0.clientConfig': { url: ':nothing' } },
      [
        'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse ":nothing": missing protocol scheme; desired format: https://host[/path]',
      ],
    ],
    [
      { 'webhooks.0.clientConfig.service': { namespace: '', name: '', port: 70000, path: 'a//B' } },
      [
        'webhooks[0].clientConfig.service.name: Required value: service name is required',
        'webhooks[0].clientConfig.service.namespace: Required value: service namespace is required',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//B": must start with a \'/\'',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//B": segment[0] may not be empty',
        'webhooks[0].clientConfig.service.path: Invalid value: "a//B": segment[1] may not be empty',
        "webhooks[0].clientConfig.service.path: Invalid value: \"a//B\": segment[2]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      { 'webhooks.0.admissionReviewVersions': [] },
      ['webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
    ],
    [
      { 'webhooks.0.admissionReviewVersions': ['v2', 'v2', 'V'] },
      [
        'webhooks[0].admissionReviewVersions: Invalid value: []string{"v2", "v2", "V"}: must include at least one of v1, v1beta1',
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
        'webhooks[0].admissionReviewVersions[2]: Invalid value: "V": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'webhooks.0.rules.0': {} },
      [
        'webhooks[0].rules[0].apiGroups: Required value',
        'webhooks[0].rules[0].apiVersions: Required value',
        'webhooks[0].rules[0].operations: Required value',
        'webhooks[0].rules[0].resources: Required value',
      ],
    ],
    [
      { 'webhooks.0.rules.0.operations': ['*', 'CREATE', 'READ'] },
      [
        'webhooks[0].rules[0].operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE", "READ"}: if \'*\' is present, must not specify other operations',
        'webhooks[0].rules[0].operations[2]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      ],
    ],
    [
      { 'webhooks.0.rules.0.apiGroups': ['*', 'apps'], 'webhooks.0.rules.0.apiVersions': ['*', ''] },
      [
        'webhooks[0].rules[0].apiGroups: Invalid value: []string{"*", "apps"}: if \'*\' is present, must not specify other API groups',
        'webhooks[0].rules[0].apiVersions: Invalid value: []string{"*", ""}: if \'*\' is present, must not specify other API versions',
        'webhooks[0].rules[0].apiVersions[1]: Required value',
      ],
    ],
    [
      { 'webhooks.0.rules.0.resources': ['*', 'pods', '*/*', ''] },
      [
        'webhooks[0].rules[0].resources: Invalid value: []string{"*", "pods", "*/*", ""}: if \'*\' is present, must not specify other resources without subresources',
        'webhooks[0].rules[0].resources: Invalid value: []string{"*", "pods", "*/*", ""}: if \'*/*\' is present, must not specify other resources',
        'webhooks[0].rules[0].resources[3]: Required value',
      ],
    ],
    [
      { 'webhooks.0.rules.0.resources': ['pods/*', 'pods/log', '*/scale', 'deployments/scale'] },
      [
        'webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if \'pods/*\' is present, must not specify pods/log',
        'webhooks[0].rules[0].resources[3]: Invalid value: "deployments/scale": if \'*/scale\' is present, must not specify deployments/scale',
      ],
    ],
    [
      { 'webhooks.0.rules.0.scope': 'Pod' },
      [
        'webhooks[0].rules[0].scope: Unsupported value: "Pod": supported values: "*", "Cluster", "Namespaced"',
      ],
    ],
    [
      { 'webhooks.0.namespaceSelector': { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      [
        "webhooks[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      {
        'webhooks.0.matchConditions': [
          { name: 'a', expression: ' ' },
          { name: '', expression: 'true' },
          { name: 'a', expression: 'true' },
          { name: 'a b', expression: 'true' },
        ],
      },
      [
        'webhooks[0].matchConditions[0].expression: Required value',
        'webhooks[0].matchConditions[1].name: Required value',
        'webhooks[0].matchConditions[2].name: Duplicate value: "a"',
        "webhooks[0].matchConditions[3].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      {
        webhooks: [
          {
            name: 'pods.example.com',
            clientConfig: { service: { namespace: 'default', name: 'hook', path: '/validate' } },
            rules: [
              {
                operations: ['CREATE'],
                apiGroups: ['*'],
                apiVersions: ['v1'],
                resources: ['pods', 'pods/status'],
              },
            ],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            matchConditions: [{ name: 'ours', expression: 'true' }],
          },
          {
            name: 'pods.example.com',
            clientConfig: { service: { namespace: 'default', name: 'hook', path: '/validate' } },
            rules: [
              {
                operations: ['CREATE'],
                apiGroups: ['*'],
                apiVersions: ['v1'],
                resources: ['pods', 'pods/status'],
              },
            ],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            matchConditions: [{ name: 'ours', expression: 'true' }],
          },
        ],
      },
      ['webhooks[1].name: Duplicate value: "pods.example.com"'],
    ],
    [
      { 'webhooks.0.clientConfig': { url: 'https://a\tb' } },
      [
        'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://a\\tb": net/url: invalid control character in URL; desired format: https://host[/path]',
      ],
    ],
    [
      { 'webhooks.0.clientConfig': { url: 'https://a/%zz' } },
      [
        'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://a/%zz": invalid URL escape "%zz"; desired format: https://host[/path]',
      ],
    ],
    [
      { 'webhooks.0.clientConfig': { url: 'https://a:port/' } },
      [
        'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://a:port/": invalid port ":port" after host; desired format: https://host[/path]',
      ],
    ],
    [
      { 'webhooks.0.clientConfig.service.path': '//' },
      ['webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
    ],
    [
      {
        'webhooks.0.matchConditions': Array.from({ length: 65 }, (_, at) => ({
          name: `c${at}`,
          expression: 'true',
        })),
      },
      ['webhooks[0].matchConditions: Too many: 65: must have at most 64 items'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(validatingwebhookconfigurations, varyAll(good, changes)))).toEqual(
      lines,
    );
  });

  test.each<Variation>([[{ 'webhooks.0.failurePolicy': 'Ignore' }, []]])(
    'an update to %j is answered as Kubernetes does',
    (changes, lines) => {
      expect(
        shortened(problemsOnUpdate(validatingwebhookconfigurations, good, varyAll(good, changes))),
      ).toEqual(lines);
    },
  );

  test('what a webhook does not say is filled in', () => {
    expect(created(validatingwebhookconfigurations, good).webhooks).toMatchObject([
      {
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        clientConfig: { service: { port: 443 } },
        rules: [{ scope: '*' }],
      },
    ]);
  });
});

describe('mutating webhooks', () => {
  const good = {
    webhooks: [
      {
        name: 'pods.example.com',
        clientConfig: { service: { namespace: 'default', name: 'hook', path: '/validate' } },
        rules: [
          {
            operations: ['CREATE'],
            apiGroups: ['*'],
            apiVersions: ['v1'],
            resources: ['pods', 'pods/status'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: [{ name: 'ours', expression: 'true' }],
        reinvocationPolicy: 'IfNeeded',
      },
    ],
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(mutatingwebhookconfigurations, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'webhooks.0.reinvocationPolicy': 'Always' },
      ['webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"'],
    ],
    [
      { 'webhooks.0.clientConfig': {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(mutatingwebhookconfigurations, varyAll(good, changes)))).toEqual(lines);
  });
});
