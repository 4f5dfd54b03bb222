import { expect, test } from 'vitest';
import { detailsOf, Evaluator, reasonsOf } from '../../../src/admission/pod-security/evaluator.ts';
import {
  LATEST,
  type Policy,
  PRIVILEGED,
  parseVersion,
  policyOf,
  readPodSecurityConfig,
  toText,
} from '../../../src/admission/pod-security/namespace-levels.ts';
import { type Check, toCheckedPod } from '../../../src/admission/pod-security/pod-check.ts';

const ALLOW_ALL: Policy = { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED };
const levelsOf = ({ enforce, audit, warn }: Policy): string[] => [
  toText(enforce),
  toText(audit),
  toText(warn),
];

test.each<[string, Record<string, string>, string[], number?]>([
  ['none', {}, ['privileged:latest', 'privileged:latest', 'privileged:latest']],
  [
    'enforce, which warns too',
    { enforce: 'baseline' },
    ['baseline:latest', 'privileged:latest', 'baseline:latest'],
  ],
  ['warn', { warn: 'restricted' }, ['privileged:latest', 'privileged:latest', 'restricted:latest']],
  ['audit', { audit: 'baseline' }, ['privileged:latest', 'baseline:latest', 'privileged:latest']],
  [
    'enforce and warn',
    { enforce: 'baseline', warn: 'restricted' },
    ['baseline:latest', 'privileged:latest', 'restricted:latest'],
  ],
  [
    'a version',
    { enforce: 'baseline', 'enforce-version': 'v1.22' },
    ['baseline:v1.22', 'privileged:latest', 'baseline:v1.22'],
  ],
  [
    'a version of each',
    { enforce: 'baseline', 'enforce-version': 'v1.22', 'warn-version': 'latest' },
    ['baseline:v1.22', 'privileged:latest', 'baseline:latest'],
  ],
  [
    'a version to warn of',
    { enforce: 'baseline', 'warn-version': 'v1.23' },
    ['baseline:latest', 'privileged:latest', 'baseline:v1.23'],
  ],
  [
    'all',
    {
      enforce: 'baseline',
      'enforce-version': 'v1.20',
      warn: 'restricted',
      'warn-version': 'v1.21',
      audit: 'restricted',
      'audit-version': 'v1.22',
    },
    ['baseline:v1.20', 'restricted:v1.22', 'restricted:v1.21'],
  ],
  [
    'no warnings',
    { enforce: 'baseline', warn: 'privileged' },
    ['baseline:latest', 'privileged:latest', 'privileged:latest'],
  ],
  [
    'warn cannot be read',
    { enforce: 'baseline', warn: 'foo' },
    ['baseline:latest', 'privileged:latest', 'privileged:latest'],
    1,
  ],
  [
    'enforce cannot be read',
    { enforce: 'foo', 'enforce-version': 'v2.0', audit: '?' },
    ['restricted:latest', 'privileged:latest', 'privileged:latest'],
    3,
  ],
])('the policy of a namespace, by its labels: %s', (_, labels, expected, wrong = 0) => {
  const prefixed = Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value]),
  );
  const { policy, errors } = policyOf({ other: 'label', ...prefixed }, ALLOW_ALL);
  expect(levelsOf(policy)).toEqual(expected);
  expect(errors).toHaveLength(wrong);
});

test('where the labels say nothing, the defaults count', () => {
  const defaults: Policy = { ...ALLOW_ALL, audit: { level: 'restricted', version: 20 } };
  expect(levelsOf(policyOf({ 'pod-security.kubernetes.io/enforce': 'privileged' }, defaults).policy)).toEqual(
    ['privileged:latest', 'restricted:v1.20', 'privileged:latest'],
  );
});

test.each([
  ['latest', LATEST],
  ['v1.0', 0],
  ['v1.1', 1],
  ['v1.20', 20],
  ['v1.10000', 10000],
  ['foo', undefined],
  ['', undefined],
  ['v2.0', undefined],
  ['v1', undefined],
  ['1.1', undefined],
  ['v1.01', undefined],
  ['v1.99999999999999999999', undefined],
])('version %j', (text, expected) => {
  expect(parseVersion(text)).toBe(expected);
});

function check(id: string, level: 'baseline' | 'restricted', since: number[], overrides?: string[]): Check {
  const versions = since.map((version) => ({
    since: version,
    find: () => ({ reason: `${id}:${version}`, detail: '' }),
    ...(overrides === undefined ? {} : { overrides }),
  }));
  return { id, level, versions };
}

test.each<[Policy['enforce']['level'], number, string]>([
  ['privileged', 0, ''],
  ['privileged', LATEST, ''],
  ['baseline', 0, 'a:0, c:0'],
  ['baseline', 4, 'a:0, c:0'],
  ['baseline', 5, 'a:0, c:5'],
  ['baseline', 10, 'a:0, b:10, c:10'],
  ['baseline', 11, 'a:0, b:10, c:10, d:11'],
  ['baseline', LATEST, 'a:0, b:10, c:10, d:20'],
  ['restricted', 0, 'a:0, c:0, e:0, h:0'],
  ['restricted', 5, 'a:0, c:5, e:0, h:0'],
  ['restricted', 10, 'e:0, g:10, h:0, i:10'],
  ['restricted', 11, 'd:11, e:0, g:10, h:0, i:10'],
  ['restricted', LATEST, 'c:10, e:0, f:21, g:10, h:0, i:21'],
  ['restricted', 10000, 'c:10, e:0, f:21, g:10, h:0, i:21'],
])('checks of %s in version %d', (level, version, expected) => {
  const [first, second] = check('i', 'restricted', [10, 21]).versions;
  if (first === undefined || second === undefined) throw new Error('two versions');
  const versions = [
    { ...first, overrides: ['c'] },
    { ...second, overrides: ['d'] },
  ];
  const evaluator = new Evaluator([
    check('a', 'baseline', [0]),
    check('b', 'baseline', [10]),
    check('c', 'baseline', [0, 5, 10]),
    check('d', 'baseline', [11, 15, 20]),
    check('e', 'restricted', [0]),
    check('f', 'restricted', [12, 16, 21]),
    check('g', 'restricted', [10], ['a']),
    check('h', 'restricted', [0], ['b']),
    { id: 'i', level: 'restricted', versions },
  ]);
  const found = evaluator.violationsOf({ level, version }, toCheckedPod(undefined, {}, false));
  expect(reasonsOf(found)).toBe(expected);
});

test('violations are listed with their details in brackets, where there are details', () => {
  const violations = [
    { reason: 'host ports', detail: '8080, 9090' },
    { reason: 'privileged', detail: '' },
  ];
  expect(detailsOf(violations)).toBe('host ports (8080, 9090), privileged');
  expect(reasonsOf(violations)).toBe('host ports, privileged');
});

test.each(['k8s.io/v1', 'k8s.io/v1beta1', 'k8s.io/v1alpha1', 'cluster.io/v1'])('a file in %s', (version) => {
  const { defaults, exemptions } = readPodSecurityConfig({
    apiVersion: `pod-security.admission.config.${version}`,
    kind: 'PodSecurityConfiguration',
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.7' },
    exemptions: { usernames: ['alice', 'bob'], namespaces: ['kube-system'], runtimeClasses: ['special'] },
  });
  expect(levelsOf(defaults)).toEqual(['baseline:v1.7', 'privileged:latest', 'privileged:latest']);
  expect([...exemptions.usernames, ...exemptions.namespaces, ...exemptions.runtimeClasses]).toEqual([
    'alice',
    'bob',
    'kube-system',
    'special',
  ]);
});

test('without a file everything is allowed, and there are no exemptions', () => {
  const { defaults, exemptions } = readPodSecurityConfig(undefined);
  expect(defaults).toEqual(ALLOW_ALL);
  expect(exemptions.namespaces.size + exemptions.usernames.size + exemptions.runtimeClasses.size).toBe(0);
});

const HEAD = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };

test.each<[string, Parameters<typeof readPodSecurityConfig>[0], RegExp]>([
  ['no apiVersion', { kind: HEAD.kind }, /apiVersion: Required value/],
  [
    'an unknown version',
    { ...HEAD, apiVersion: 'pod-security.admission.config.k8s.io/v99' },
    /config\.k8s\.io\/v99/,
  ],
  ['an unknown kind', { ...HEAD, kind: 'SomeConfiguration' }, /SomeConfiguration/],
  ['an unknown field', { ...HEAD, deflaults: {} }, /deflaults: unknown field/],
  [
    'defaults',
    { ...HEAD, defaults: { enforce: 'baslein', 'enforce-version': 'v.122', audit: 'lorum' } },
    /defaults\.enforce: Invalid value: "baslein": must be one of privileged, baseline, restricted, defaults\.enforce-version: Invalid value: "v\.122": must be "latest" or "v1\.x", defaults\.audit: /,
  ],
  [
    'exemptions',
    {
      ...HEAD,
      exemptions: { usernames: ['', 'a', 'a'], namespaces: ['', 'X', 'a', 'a'], runtimeClasses: ['*'] },
    },
    /namespaces\[0\]: Invalid.*namespaces\[1\]: Invalid.*namespaces\[3\]: Duplicate.*runtimeClasses\[0\]: Invalid.*usernames\[0\]: Invalid value: "": username must not be empty, .*usernames\[2\]: Duplicate/,
  ],
])('a file is refused: %s', (_, config, expected) => {
  expect(() => readPodSecurityConfig(config)).toThrow(expected);
});
