import { expect, test } from 'vitest';
import { type PatchKind, PolicyCompiler } from '../../src/cel/policies/compiler.ts';
import { toApplyConfiguration, toJsonPatch } from '../../src/cel/policies/policy-patches.ts';
import { toCel } from '../../src/cel/program.ts';

/** The cases of Kubernetes' tests (cel/mutation, policy/mutating/patch). */

const GIVEN = {
  object: toCel({ spec: { replicas: 3, containers: [{ name: 'a' }, { name: 'b' }] } }),
  oldObject: null,
  namespaceObject: null,
};

function patchOf(expression: string, kind: PatchKind): unknown {
  const compiled = new PolicyCompiler(false).compile(expression, kind);
  if (compiled.program === undefined) return compiled.problem;
  const { result } = compiled.program.run(GIVEN);
  return kind === 'JSON patch' ? toJsonPatch(result) : toApplyConfiguration(result);
}

const configurationOf = (expression: string): unknown => patchOf(expression, 'apply configuration');
const operationsOf = (expression: string): unknown => patchOf(expression, 'JSON patch');

test.each([
  ['Object{}', {}],
  ['Object{spec: Object.spec{replicas: object.spec.replicas + 1}}', { spec: { replicas: 4 } }],
  [
    'Object{intList: [1, 2, 3], annotations: {"foo": "bar"},}',
    { intList: [1, 2, 3], annotations: { foo: 'bar' } },
  ],
  ['Object { a : Object . a { b : 1 } }', { a: { b: 1 } }],
  ['Object{metadata: Object.metadata{namespace: "x"}}', { metadata: { namespace: 'x' } }],
  ['object.spec.replicas > 2 ? Object{a: 1} : Object{}', { a: 1 }],
  ['Object{sum: Object{a: [1, 2, 3]}.a.sum()}', { sum: 6 }],
  [
    'Object{same: Object{a: 3} == Object{a: 1 + 2}, other: Object{a: 1} == Object{a: 2}}',
    { same: true, other: false },
  ],
  ['Object{set: has(Object{a: 1}.a), unset: has(Object{}.a)}', { set: true, unset: false }],
  ['Object{?existing: optional.none(), ?other: optional.of(1)}', { other: 1 }],
  ['Object{?spec: optional.ofNonZeroValue(Object.spec{?replicas: Object{}.?replicas})}', {}],
  [
    'Object{x: b"abc", d: duration("90s"), t: timestamp("2020-01-01T00:00:00Z"), u: 3u, f: 1.5, n: null}',
    { x: 'YWJj', d: '90s', t: '2020-01-01T00:00:00Z', u: 3, f: 1.5, n: null },
  ],
  ['Object{__proto__: Object.__proto__{a: 1}}', JSON.parse('{"__proto__": {"a": 1}}')],
])('%s makes %j', (expression, made) => {
  expect(JSON.stringify(configurationOf(expression))).toBe(JSON.stringify(made));
});

test.each([
  ['"teapot"', 'must evaluate to Object but got string'],
  ['Object.spec.metadata{}', 'must evaluate to Object but got Object.spec.metadata'],
  ['{"a": "b"}', 'must evaluate to Object but got map(string, string)'],
  ['object', 'must evaluate to Object but got dyn'],
])('%s is no configuration: %s', (expression, problem) => {
  expect(configurationOf(expression)).toBe(problem);
});

test.each([
  ['Object{spec: Object.specx{}}', 'unexpected type name "Object.specx", expected "Object.spec"'],
  ['Object{a: [Object.a{b: Object.b{}}]}', 'unexpected type name "Object.b", expected "Object.a.b"'],
  ['Object{a: {"k": Object.b{}}}', 'unexpected type name "Object.b", expected "Object.a"'],
  ['Object{a: Object{}.b}', 'no such key: b'],
  ['Object{a: Object{}["constructor"]}', 'no such overload'],
])('%s fails when it is made: %s', (expression, problem) => {
  expect(() => configurationOf(expression)).toThrow(problem);
});

test.each([
  ['[JSONPatch{op: "add", path: "/x", value: 3}]', [{ op: 'add', path: '/x', value: 3 }]],
  ['[JSONPatch{op: "remove", path: "/x"}]', [{ op: 'remove', path: '/x' }]],
  ['[JSONPatch{op: "move", from: "/y", path: "/x"}]', [{ op: 'move', path: '/x', from: '/y' }]],
  ['[JSONPatch{op: "test", path: "/x", value: null}]', [{ op: 'test', path: '/x', value: null }]],
  ['has(object.nope) ? [JSONPatch{op: "add"}] : []', []],
  [
    'object.spec.containers.map(c, JSONPatch{op: "add", path: "/l/" + jsonpatch.escapeKey("k8s.io/x~" + c.name)})',
    [
      { op: 'add', path: '/l/k8s.io~1x~0a' },
      { op: 'add', path: '/l/k8s.io~1x~0b' },
    ],
  ],
  [
    '[JSONPatch{op: "add", path: JSONPatch{}.path, value: {"op": JSONPatch{op: "o"}.op, "unset": string(has(JSONPatch{}.op))}}]',
    [{ op: 'add', path: '', value: { op: 'o', unset: 'false' } }],
  ],
  [
    '[JSONPatch{op: "add", path: "/spec", value: Object.spec{selector: Object.spec.selector{}, replicas: 10}}]',
    [{ op: 'add', path: '/spec', value: { selector: {}, replicas: 10 } }],
  ],
])('%s makes %j', (expression, made) => {
  expect(operationsOf(expression)).toEqual(made);
});

test.each([
  ['[]', 'must evaluate to list(JSONPatch) but got list(dyn)'],
  ['[1]', 'must evaluate to list(JSONPatch) but got list(int)'],
  ['JSONPatch{}', 'must evaluate to list(JSONPatch) but got JSONPatch'],
  [
    '[JSONPatch{op: 1}]',
    "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'\n | [JSONPatch{op: 1}]\n | .............^",
  ],
  ['[JSONPatch{path: Invalid{}}]', "undeclared reference to 'Invalid'"],
  ['[JSONPatch{verb: "add"}]', "undefined field 'verb'"],
])('%s is no patch: %s', (expression, problem) => {
  expect(operationsOf(expression)).toContain(problem);
});

test('expressions cannot name types without end', () => {
  const fields = Array.from({ length: 2000 }, (_, at) => `f${at}: Object.f${at}{}`);
  expect(configurationOf(`Object{${fields.join(', ')}}`)).toContain(
    'more than 1000 types of objects are named',
  );
});

test('types of patches are known to mutations alone', () => {
  const compiler = new PolicyCompiler(false);
  for (const expression of ['Object{} == Object{}', 'jsonpatch.escapeKey("a") == ""'])
    expect(compiler.compile(expression, 'bool')).toMatchObject({
      problem: expect.stringContaining('undeclared reference to'),
    });
});
