import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { applyJsonPatch } from '../../src/object/json-patch.ts';
import { applyMergePatch, applyStrategicMerge } from '../../src/object/merge-patch.ts';
import { canonicalQuantity, quantityProblem } from '../../src/object/quantity.ts';
import {
  formatLabelRequirements,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from '../../src/object/selectors.ts';
import { formatLabelSelector } from '../../src/resources/cells.ts';

test.each([
  ['0', '0'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1.5Gi', '1536Mi'],
  ['1024Mi', '1Gi'],
  ['1000', '1k'],
  ['1e3', '1e3'],
  ['100000', '100k'],
  ['0.1Mi', '104857600m'],
  ['12345', '12345'],
  ['-500m', '-500m'],
  ['1Ki', '1Ki'],
  ['512Ki', '512Ki'],
  ['0.0000000001', '1n'],
  // What follows is what kube-apiserver answers.
  ['1E3', '1E3'],
  ['+1', '+1'],
  ['5.', '5.'],
  ['1.500', '1.500'],
  ['0.100', '100m'],
  ['1.50', '1500m'],
  ['1.234567', '1.234567'],
  ['1000000', '1M'],
  ['01', '01'],
  ['-', '0'],
  ['e3', '0'],
  ['1e400', '10e399'],
  ['1.2345678901234568e+29', '123456789012345680e12'],
  ['1e-10', '1e-9'],
  ['10Ei', '9223372036854775807'],
  ['-10Ei', '-9223372036854775807'],
  ['1025Ki', '1025Ki'],
  ['2048Ki', '2Mi'],
])('the quantity %s is written %s', (given, canonical) => {
  expect(canonicalQuantity(given)).toBe(canonical);
});

const NO_FORMAT = /^quantities must match/;
const NO_SUFFIX = /^unable to parse quantity's suffix$/;

test.each([
  ...['', 'x', '1.2.3', '1 Gi', '1gi'].map((text) => [text, NO_FORMAT] as const),
  ...['--1', '1e', '1ki', '1-5', '1ee3', '1e1000'].map((text) => [text, NO_SUFFIX] as const),
])('%j is no quantity', (text, why) => {
  expect(canonicalQuantity(text)).toBeUndefined();
  expect(quantityProblem(text)).toMatch(why);
});

test.each([
  ['a=b', { a: 'b' }, true],
  ['a==b', { a: 'c' }, false],
  ['a!=b', {}, true],
  ['a in (b,c)', { a: 'c' }, true],
  ['a notin (b)', { a: 'b' }, false],
  ['a', { a: '' }, true],
  ['!a', { a: '' }, false],
  ['a>5', { a: '6' }, true],
  ['a<5', { a: 'x' }, false],
  ['a=b,c', { a: 'b' }, false],
  ['a=', { a: '' }, true],
  ['', {}, true],
])('the label selector %s on %j is %s', (selector, labels, matches) => {
  expect(matchesLabels(parseLabelSelector(selector), labels as Record<string, string>)).toBe(matches);
});

// In the words of kube-apiserver.
test.each([
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
  ['=b', "found '=', expected: !, identifier, or 'end of string'"],
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  ['a===b', "unable to parse requirement: found '=', expected: identifier"],
  ['a exists', "unable to parse requirement: found 'exists', expected: in, notin, =, ==, !=, gt, lt"],
  [
    'a>x',
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  ['-a=b', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'],
  ['a/b/c', 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a qualified name must consist of'],
  ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be'],
  [`a=${'x'.repeat(64)}`, 'must be no more than 63 characters'],
])('%j is no label selector', (selector, why) => {
  const refusal = (): string => {
    try {
      return JSON.stringify(parseLabelSelector(selector));
    } catch (error) {
      return error instanceof SelectorError ? error.message : String(error);
    }
  };
  expect(refusal().includes(why) ? why : refusal()).toBe(why);
  // Only errors within a requirement say so.
  expect(refusal().startsWith('unable to parse')).toBe(why.startsWith('unable') || why.startsWith('must be'));
});

test('a label selector reads back what it writes', () => {
  const text = 'a=b,c in (d,e),!f,g,h!=i';
  const again = parseLabelSelector(formatLabelRequirements(parseLabelSelector(text)));
  expect(again).toEqual(parseLabelSelector(text));
});

test('a selector of an object shows its expressions as sets, with one value too', () => {
  const matchExpressions = [
    { key: 'c', operator: 'NotIn', values: ['z', 'y'] },
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'b', operator: 'DoesNotExist' },
  ];
  const selector = { matchLabels: { d: 'e', a: 'b' }, matchExpressions };
  expect(formatLabelSelector(selector)).toBe('a=b,a in (b),!b,c notin (y,z),d=e');
});

test('field selectors compare text, with escapes', () => {
  expect(matchesFields(parseFieldSelector('a=b,c!=d'), { a: 'b', c: 'x' })).toBe(true);
  expect(matchesFields(parseFieldSelector('a=x\\,y'), { a: 'x,y' })).toBe(true);
  expect(() => parseFieldSelector('a')).toThrow(/can't understand/);
});

test('a merge patch follows RFC 7386, appendix A', () => {
  const cases: [JsonValue, JsonValue, JsonValue][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: 'foo' }, null, null],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) expect(applyMergePatch(target, patch)).toEqual(result);
});

test('a JSON patch tests, moves, copies, and leaves its input alone', () => {
  const object: JsonObject = { a: { b: 1 }, list: [1, 2] };
  const before = JSON.stringify(object);
  const patched = applyJsonPatch(object, [
    { op: 'test', path: '/a/b', value: 1 },
    { op: 'move', from: '/a/b', path: '/c' },
    { op: 'add', path: '/list/-', value: 3 },
  ]);
  expect(patched).toEqual({ a: {}, list: [1, 2, 3], c: 1 });
  expect(JSON.stringify(object)).toBe(before);
  expect(() => applyJsonPatch(object, [{ op: 'test', path: '/a/b', value: 2 }])).toThrow('test failed');
  expect(() => applyJsonPatch(object, [{ op: 'remove', path: '/nothing' }])).toThrow('nonexistent key');
  expect(() => applyJsonPatch(object, [{ op: 'add', path: '/__proto__/x', value: 1 }])).toThrow(
    'missing path',
  );
  expect(({} as JsonObject).x).toBeUndefined();
});

test.each([
  [
    { op: 'replace', path: '/b/x', value: 1 },
    'replace operation does not apply: doc is missing path: /b/x: missing value',
  ],
  [
    { op: 'add', path: '/b/x', value: 1 },
    'add operation does not apply: doc is missing path: "/b/x": missing value',
  ],
  [
    { op: 'add', path: '/list/5', value: 1 },
    "error in add for path: '/list/5': Unable to access invalid index: 5: invalid index referenced",
  ],
  [
    { op: 'remove', path: '/b' },
    "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value",
  ],
  [
    { op: 'move', from: '/b', path: '/c' },
    "error in move for path: 'b': Unable to remove nonexistent key: b: missing value",
  ],
  [
    { op: 'copy', path: '/c' },
    'copy operation failed to decode from: operation, missing from field: missing value',
  ],
  [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  [
    { op: 'test', path: '/list/x', value: 2 },
    `error in test for path: '/list/x': strconv.Atoi: parsing "x": invalid syntax`,
  ],
])('a JSON patch that fails is reported in Kubernetes’ words: %j', (operation, message) => {
  expect(() => applyJsonPatch({ a: 1, list: [1, 2] }, [operation])).toThrow(message);
});

test('a JSON patch shares what it does not touch, and copies what it copies', () => {
  const object = { kept: { x: 1 }, list: [{ n: 1, text: 'x'.repeat(100) }] };
  const patched = applyJsonPatch(object, [
    { op: 'replace', path: '/absent', value: null },
    { op: 'copy', from: '/list/0', path: '/list/-' },
    { op: 'add', path: '/list/-1/m', value: 2 },
    { op: 'add', path: '/__proto__', value: { x: 1 } },
  ]) as JsonObject;
  expect(patched.kept).toBe(object.kept);
  expect(patched).toMatchObject({ absent: null, list: [{ n: 1 }, { n: 1, m: 2 }] });
  expect(Object.hasOwn(patched, '__proto__')).toBe(true);
  const double = { op: 'copy', from: '/list', path: '/list/-' };
  expect(() =>
    applyJsonPatch(
      object,
      Array.from({ length: 40 }, () => double),
    ),
  ).toThrow('exceeding the limit 3145728');
});

const deployment = loadTypes().message('apps/v1.Deployment');
const withContainers = (containers: JsonValue[]): JsonObject => ({
  spec: { template: { spec: { containers } } },
});

test('a strategic merge patch merges lists by their keys, and obeys its directives', () => {
  const target = withContainers([
    { name: 'a', image: '1' },
    { name: 'b', image: '1', args: ['x'] },
  ]);
  const merge = (patch: JsonValue[]): JsonObject =>
    applyStrategicMerge(target, withContainers(patch), deployment);
  expect(merge([{ name: 'b', image: '2' }])).toEqual(
    withContainers([
      { name: 'a', image: '1' },
      { name: 'b', image: '2', args: ['x'] },
    ]),
  );
  expect(merge([{ name: 'a', $patch: 'delete' }])).toEqual(
    withContainers([{ name: 'b', image: '1', args: ['x'] }]),
  );
  expect(merge([{ $patch: 'replace' }, { name: 'c' }])).toEqual(withContainers([{ name: 'c' }]));
  expect(merge([{ name: 'b', args: ['y'] }])).toEqual(
    withContainers([
      { name: 'a', image: '1' },
      { name: 'b', image: '1', args: ['y'] },
    ]),
  );
  expect(() => merge([{ image: 'x' }])).toThrow(/does not contain declared merge key: name/);
  const ordered = {
    spec: { template: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } } },
  };
  expect(applyStrategicMerge(target, ordered, deployment)).toEqual(
    withContainers([
      { name: 'b', image: '1', args: ['x'] },
      { name: 'a', image: '1' },
    ]),
  );
});

test.each<[string, string[], string[], string[]]>([
  ['a new element is the first', ['a', 'b'], ['new'], ['new', 'a', 'b']],
  ['a known one stays behind what was before it', ['a', 'b', 'c'], ['b'], ['a', 'b', 'c']],
  ['the order of the patch goes before the old one', ['a', 'b', 'c'], ['c', 'a'], ['b', 'c', 'a']],
  ['new ones stand where the patch has them', ['a', 'b'], ['b', 'new'], ['a', 'b', 'new']],
  ['all at once', ['a', 'b', 'c', 'd'], ['new', 'c', 'other', 'b'], ['new', 'a', 'c', 'other', 'b', 'd']],
])('a strategic merge patch without an order: %s', (_, before, patch, after) => {
  const names = (list: JsonValue | undefined): unknown =>
    Array.isArray(list) ? list.map((item) => (item as JsonObject).name) : list;
  const merged = applyStrategicMerge(
    withContainers(before.map((name) => ({ name }))),
    withContainers(patch.map((name) => ({ name }))),
    deployment,
  ) as { spec: { template: { spec: { containers: JsonValue } } } };
  expect(names(merged.spec.template.spec.containers)).toEqual(after);
  const metadata = applyStrategicMerge(
    { metadata: { finalizers: before } },
    { metadata: { finalizers: patch } },
    deployment,
  );
  expect(metadata).toEqual({ metadata: { finalizers: after } });
});

test('a strategic merge patch replaces the selector of a disruption budget', () => {
  const budget = loadTypes().message('policy/v1.PodDisruptionBudget');
  const selecting = (matchLabels: JsonObject): JsonObject => ({ spec: { selector: { matchLabels } } });
  const merged = applyStrategicMerge(selecting({ app: 'a', tier: 'web' }), selecting({ app: 'b' }), budget);
  expect(merged).toEqual(selecting({ app: 'b' }));
});

test('$retainKeys and $deleteFromPrimitiveList', () => {
  const target: JsonObject = {
    metadata: { finalizers: ['a', 'b', 'c'] },
    spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
  };
  const patch: JsonObject = {
    metadata: { '$deleteFromPrimitiveList/finalizers': ['b'] },
    spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
  };
  expect(applyStrategicMerge(target, patch, deployment)).toEqual({
    metadata: { finalizers: ['a', 'c'] },
    spec: { strategy: { type: 'Recreate' } },
  });
});
