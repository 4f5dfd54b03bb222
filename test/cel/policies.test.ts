import { expect, test } from 'vitest';
import { CelAuthorizer, type Question } from '../../src/cel/libraries/authorizer-checks.ts';
import type { Gives } from '../../src/cel/policies/compiler.ts';
import { PolicyCompiler } from '../../src/cel/policies/compiler.ts';

const problem = (expression: string, gives: Gives = 'bool', hasParams = true): string | undefined => {
  const compiled = new PolicyCompiler(hasParams).compile(expression, gives);
  return compiled.program === undefined ? compiled.problem : undefined;
};

/** From Kubernetes' documentation and tests, and from policies that people publish. */
const ACCEPTED = [
  'object.spec.replicas <= 5',
  'object.spec.replicas <= params.maxReplicas',
  "object.metadata.namespace == 'kube-system' || object.metadata.name.startsWith('x')",
  'has(object.subsets) && object.subsets.size() < 2',
  "request.kind.group == 'example.com' && request.kind.version == 'v1' && request.kind.kind == 'Fake'",
  "request.operation == 'CREATE' && request.namespace != params.data.fakeString",
  "request.userInfo.groups.exists(g, g == 'admins') && !request.dryRun",
  "request.?subResource.orValue('') == ''",
  "has(request.options) && request.options.kind == 'CreateOptions'",
  "authorizer.group('').resource('endpoints').check('create').allowed()",
  "authorizer.path('/healthz').check('get').allowed() == false",
  "authorizer.requestResource.check('custom-verb').reason() == ''",
  "authorizer.serviceAccount('default', 'sa').group('').resource('endpoints').namespace('default').name('e').check('x').errored()",
  "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend').check('create').error() == ''",
  "'env' in namespaceObject.metadata.labels && namespaceObject.metadata.labels.env == 'test'",
  "has(object.spec.template.spec.containers[0].image) && object.spec.template.spec.containers.all(c, c.image.startsWith('a'))",
  'oldObject == null || object != null || params == null',
  'object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || c.securityContext.privileged == false)',
  "object.metadata.?labels[?'app.kubernetes.io/name'].orValue('') != ''",
  "quantity(object.spec.resources.requests.storage).isLessThan(quantity('10Gi'))",
  "(has(object.spec.a) ? object.spec.a : []).all(x, x in ['a', 'b'])",
  "object.spec.rules.all(rule, rule.host.matches('^[a-z.]+$'))",
  "[object.spec.containers, object.spec.?initContainers.orValue([])].all(l, l.all(c, c.name != ''))",
  'int(object.spec.weight) + 1 > 3 && double(object.x) > 1.5 && string(object.y).size() > 0',
  "duration(object.spec.timeout) < duration('1h') && timestamp(object.metadata.creationTimestamp) > timestamp('2020-01-01T00:00:00Z')",
  'object.package.foo && object.spec.namespace.a',
];

test.each(ACCEPTED)('%s is accepted', (expression) => {
  expect(problem(expression)).toBeUndefined();
});

test.each<[string, Gives, string]>([
  ['fail to compile test', 'bool', 'compilation failed: ERROR: <input>:1:'],
  [
    "1 < 'asdf'",
    'bool',
    "ERROR: <input>:1:3: found no matching overload for '_<_' applied to '(int, string)'",
  ],
  [
    'foo == 1',
    'bool',
    "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^",
  ],
  [
    'noSuchFunction(object)',
    'bool',
    "ERROR: <input>:1:15: undeclared reference to 'noSuchFunction' (in container '')",
  ],
  ['request.nope == 1', 'bool', "ERROR: <input>:1:8: undefined field 'nope'"],
  ["request.name.find(1) == ''", 'bool', "found no matching overload for 'find' applied to 'string.(int)'"],
  ['variables.nope', 'bool', "undefined field 'nope'"],
  ["'text'", 'bool', 'must evaluate to bool'],
  ['object.spec.flag', 'bool', 'must evaluate to bool'],
  ['true', 'string', 'must evaluate to string'],
  ['1', 'string or null', 'must evaluate to one of [string null_type]'],
  ['dyn(object).flag', 'bool', 'must evaluate to bool'],
  ['object.x.matches("(")', 'bool', 'ERROR: <input>:1:18: invalid matches argument'],
  ['duration("1y") == object.x', 'bool', 'ERROR: <input>:1:10: invalid duration argument'],
  ['object.all(x, x == timestamp("now"))', 'bool', 'ERROR: <input>:1:30: invalid timestamp argument'],
])('%s is no expression that gives %s', (expression, gives, why) => {
  expect(problem(expression, gives)).toContain(why);
});

test.each<[string, Gives, string]>([
  ['1', 'bool', 'must evaluate to bool but got int'],
  ['object.x', 'string', 'must evaluate to string but got dyn'],
  ['[1]', 'string or null', 'must evaluate to one of [string null_type] but got list(int)'],
  ['null', 'apply configuration', 'must evaluate to Object but got null_type'],
])('since 1.32, the type of %s is named', (expression, gives, why) => {
  const limit = { newest: 31, minor: 32, stored: new Set<string>() } as const;
  expect(new PolicyCompiler(false, limit).compile(expression, gives)).toMatchObject({ problem: why });
});

const compileNew = (expression: string, ...stored: string[]) =>
  new PolicyCompiler(false, { newest: 35, minor: 36, stored: new Set(stored) }).compile(expression, 'bool');

test.each<[string, ...string[]]>([
  ['foo + bar == 1', "1:1: undeclared reference to 'foo'", "1:7: undeclared reference to 'bar'"],
  ['object.foo(bar)', "1:11: undeclared reference to 'foo'", "1:12: undeclared reference to 'bar'"],
  ['1 || nope', "1:1: expected type 'bool' but found 'int'", "1:6: undeclared reference to 'nope'"],
  ['{"a": foo, bar: 1} == {}', "1:7: undeclared reference to 'foo'", "1:12: undeclared reference to 'bar'"],
  [
    'has(request.nope) && has(foo.bar) && request.nix == 1',
    "1:4: undefined field 'nope'",
    "1:26: undeclared reference to 'foo'",
    "1:45: undefined field 'nix'",
  ],
  [
    '1 + "a" == foo && [1, "a"] == foo',
    "1:3: found no matching overload for '_+_' applied to '(int, string)'",
    "1:12: undeclared reference to 'foo'",
    "1:31: undeclared reference to 'foo'",
  ],
  ['[1, "a"].size() == 2', "1:5: expected type 'int' but found 'string'"],
  ['duration("1y") == duration("2y")', '1:10: invalid duration argument', '1:28: invalid duration argument'],
  ['"%d".format(["a"]) == ""', '1:14: error during formatting: decimal clause can only be used on integers'],
  ['[1].existsOne(x)', "1:14: undeclared reference to 'existsOne'", "1:15: undeclared reference to 'x'"],
])('a new expression is refused with all of its mistakes: %s', (expression, ...mistakes) => {
  const { program, problem: text = '' } = { problem: '', ...compileNew(expression) };
  expect(program).toBeUndefined();
  const told = text.split('ERROR: <input>:').slice(1);
  expect(told).toHaveLength(mistakes.length);
  for (const [at, mistake] of mistakes.entries()) expect(told[at]?.slice(0, mistake.length)).toBe(mistake);
});

test('a new expression whose written values no program can be made with is an internal error', () => {
  for (const written of ['int("x")', 'uint("-1")', 'double("")', 'int(bool("yes"))'])
    expect(compileNew(`${written} == object.x`), written).toMatchObject({
      isInternal: true,
      problem: expect.stringMatching(
        /^program instantiation failed: type conversion error from 'string' to '/,
      ),
    });
});

test('a new expression may be no variable of any type', () => {
  const compiler = new PolicyCompiler(false, { newest: 35, minor: 36, stored: new Set() });
  compiler.variable('any', 'object.x');
  compiler.variable('wrong', 'nope');
  compiler.variable('flag', 'object.x == 1');
  const problemOf = (name: string) => compiler.compile(`variables.${name}`, 'bool').program === undefined;
  expect(['any', 'wrong', 'flag'].map(problemOf)).toEqual([true, true, false]);
  const stored = new PolicyCompiler(false);
  stored.variable('any', 'object.x');
  expect(stored.compile('variables.any', 'bool').program).toBeDefined();
});

test('new expressions cannot bind a name, and stored ones go on', () => {
  const expression = 'true && cel.bind(x, 1, x == 1)';
  const compile = (...stored: string[]) => compileNew(expression, ...stored);
  expect(compile()).toMatchObject({
    problem: expect.stringContaining("<input>:1:9: undeclared reference to 'cel' (in container '')"),
  });
  expect(compile(expression).program).toBeDefined();
});

test('parameters are known to policies that have some, and rights to all but messages', () => {
  expect(problem('params.x == 1', 'bool', false)).toContain("undeclared reference to 'params'");
  const compiler = new PolicyCompiler(false);
  const asks = "authorizer.path('/').check('get').reason()";
  expect(compiler.compile(asks, 'string').program).toBeDefined();
  expect(compiler.compile(asks, 'string', { authorizer: false }).program).toBeUndefined();
});

test('later expressions know a variable and its type', () => {
  const compiler = new PolicyCompiler(false);
  expect(compiler.compile('variables.foo == 1', 'bool').program).toBeUndefined();
  compiler.variable('foo', "'a' + object.metadata.name");
  expect(compiler.compile('variables.foo.size() == 1', 'bool').program).toBeDefined();
  expect(compiler.compile('variables.foo == 1', 'bool').program).toBeUndefined();
  compiler.variable('list', 'object.spec.containers.map(c, c.image)');
  expect(
    compiler.compile("variables.list.all(i, i != '') && has(variables.foo)", 'bool').program,
  ).toBeDefined();
});

test('a question about rights can be about some objects of a resource', () => {
  const expression =
    "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=n').labelSelector('app').check('list').allowed()";
  const { program } = new PolicyCompiler(false).compile(expression, 'bool');
  let asked: Question | undefined;
  const authorizer = new CelAuthorizer((question) => {
    asked = question;
    return { allowed: true, reason: '' };
  }, {});
  expect(program?.run({ authorizer }).result).toBe(true);
  expect(asked).toMatchObject({ resource: 'pods', fieldSelector: 'spec.nodeName=n', labelSelector: 'app' });
});

test('a new expression may be as long as in Kubernetes, and shows 100 mistakes; one that is stored may be longer', () => {
  const long = `'${'x'.repeat(100_000)}' == object.a`;
  const compile = (expression: string, stored: readonly string[] = []): string | undefined => {
    const limit = { newest: 36, minor: 36, stored: new Set(stored) } as const;
    const compiled = new PolicyCompiler(false, limit).compile(expression, 'bool');
    return compiled.program === undefined ? compiled.problem : undefined;
  };
  expect(compile(long)).toBe(
    'compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100014, limit 100000',
  );
  expect(compile(long, [long])).toBeUndefined();
  const mistakes = Array.from({ length: 1_000 }, (_, at) => `a${at} == 1`).join(' && ');
  expect(compile(mistakes)?.match(/undeclared reference/g)).toHaveLength(100);
  expect(compile(mistakes)).toMatch(/\n100 more errors were truncated$/);
});
