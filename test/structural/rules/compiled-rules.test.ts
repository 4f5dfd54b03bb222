import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import type { JSONSchemaProps, ValidationRule } from '../../../src/api/types/apiextensions/v1.ts';
import { compileRules, type RunOptions } from '../../../src/structural/rules/compiled-rules.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { threadMs } from '../../kit/thread-time.ts';

const RULES = 'x-kubernetes-validations';

/** A schema whose spec has these properties and rules. */
const withSpec = (
  properties: Record<string, JSONSchemaProps>,
  ...rules: ValidationRule[]
): JSONSchemaProps => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, [RULES]: rules } },
});

const check = (schema: JSONSchemaProps, object: JsonObject, options: RunOptions = {}): string[] =>
  atOnce(compileRules(schema).run(object, options)).map(({ field, message }) => `${field}: ${message}`);

/** What is found in a spec with one property `x` by one rule. */
const ruleOn = (rule: string, x: JSONSchemaProps, value: JsonObject[string]): string[] =>
  check(withSpec({ x }, { rule }), { spec: value === undefined ? {} : { x: value } });

const TEXT: JSONSchemaProps = { type: 'string' };
const INTEGER: JSONSchemaProps = { type: 'integer' };

describe('values have the types of their schema', () => {
  test.each<[string, JSONSchemaProps, JsonObject[string]]>([
    ['self.x + 1 == 8', INTEGER, 7],
    ['self.x == 9223372036854775807', INTEGER, 9223372036854775807n],
    ['self.x == 2.0', { type: 'number' }, 2],
    ['self.x / 2.0 == 0.25', { type: 'number' }, 0.5],
    ['self.x', { type: 'boolean' }, true],
    ["self.x.startsWith('a')", TEXT, 'ab'],
    ["self.x == b'abc'", { type: 'string', format: 'byte' }, 'YWJj'],
    [
      "self.x > timestamp('2020-01-01T00:00:00Z')",
      { type: 'string', format: 'date-time' },
      '2021-05-01T10:00:00Z',
    ],
    ['self.x.getFullYear() == 2021', { type: 'string', format: 'date' }, '2021-05-01'],
    ["self.x == duration('1h30m')", { type: 'string', format: 'duration' }, '90m'],
    ["self.x == duration('48h')", { type: 'string', format: 'duration' }, '2 days'],
    ['self.x == 5', { 'x-kubernetes-int-or-string': true }, 5],
    ["type(self.x) == string && self.x == '5'", { 'x-kubernetes-int-or-string': true }, '5'],
    ["self.x.all(i, i in ['a', 'b'])", { type: 'array', items: TEXT }, ['a', 'b', 'a']],
    ["self.x['k'] == 1 && self.x.k == 1", { type: 'object', additionalProperties: INTEGER }, { k: 1 }],
    ['self.x.all(k, self.x[k] > 0)', { type: 'object', additionalProperties: INTEGER }, { a: 1, b: 2 }],
    [
      "'__proto__' in self.x",
      { type: 'object', additionalProperties: INTEGER },
      JSON.parse('{"__proto__":1}'),
    ],
    ['!has(self.x)', TEXT, undefined],
    ['!has(self.x)', { type: 'string', nullable: true }, null],
    [
      "type(self.x) == map && has(self.x.y) && self.x.y == ''",
      { type: 'object', properties: { y: TEXT } },
      { y: '' },
    ],
    ['self.x == self.x && self.x != null', { type: 'object', properties: { y: TEXT } }, { y: '' }],
  ])('%s', (rule, x, value) => {
    expect(ruleOn(rule, x, value)).toEqual([]);
  });

  test('an object that embeds a resource has a kind and a name', () => {
    const x: JSONSchemaProps = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const value = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { b: 'c' } } };
    expect(ruleOn("self.x.kind == 'Pod' && self.x.metadata.name == 'a'", x, value)).toEqual([]);
    expect(ruleOn('has(self.x.metadata.labels)', x, value)[0]).toContain("undefined field 'labels'");
  });

  test('the name of the object is there without a schema, and nothing else of its metadata', () => {
    const schema: JSONSchemaProps = { type: 'object', [RULES]: [{ rule: "self.metadata.name == 'a'" }] };
    expect(check(schema, { metadata: { name: 'a' } })).toEqual([]);
    expect(check(schema, { metadata: { name: 'b' } })).toEqual([
      `<nil>: Invalid value: "object": failed rule: self.metadata.name == 'a'`,
    ]);
    const other: JSONSchemaProps = { type: 'object', [RULES]: [{ rule: 'has(self.metadata.labels)' }] };
    expect(check(other, { metadata: { name: 'a' } })[0]).toContain("undefined field 'labels'");
  });

  test('what has no schema cannot be seen, and counts when objects are compared', () => {
    const open: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true };
    expect(ruleOn('has(self.x)', open, 1)[0]).toContain("undefined field 'x'");
    const list: JSONSchemaProps = { type: 'array', items: open };
    expect(ruleOn('has(self.x)', list, [1])[0]).toContain("undefined field 'x'");
    const objects: JSONSchemaProps = { type: 'array', items: { type: 'object', properties: { open } } };
    expect(ruleOn('self.x[0] == self.x[1]', objects, [{ open: { a: [1] } }, { open: { a: [1] } }])).toEqual(
      [],
    );
    expect(ruleOn('self.x[0] != self.x[1]', objects, [{ open: { a: [1] } }, { open: { a: [2] } }])).toEqual(
      [],
    );
  });

  test.each([
    ['my-field', 'my__dash__field'],
    ['my.field', 'my__dot__field'],
    ['my/field', 'my__slash__field'],
    ['my__field', 'my__underscores__field'],
    ['namespace', '__namespace__'],
    ['in', '__in__'],
    ['constructor', 'constructor'],
    ['hasOwnProperty', 'hasOwnProperty'],
  ])('the field %s is called %s', (name, escaped) => {
    const schema = withSpec({ [name]: TEXT }, { rule: `has(self.${escaped}) && self.${escaped} == 'a'` });
    expect(check(schema, { spec: { [name]: 'a' } })).toEqual([]);
    expect(check(schema, { spec: {} })).toHaveLength(1);
  });

  test('a value of another type than its schema has is an error of the rule that asks for it', () => {
    expect(ruleOn('self.x == 1', INTEGER, 'a')).toEqual([
      'spec: Invalid value: "object": invalid data, expected int, got string evaluating rule: self.x == 1',
    ]);
    expect(ruleOn('self.x.size() == 1', { type: 'array', items: TEXT }, {})[0]).toContain(
      'expected an array',
    );
    for (const value of [1.5, 1e300, 2n ** 63n])
      expect(ruleOn('self.x == 1', INTEGER, value)[0]).toContain('expected int, got float64');
  });
});

describe('lists', () => {
  const set: JSONSchemaProps = { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT };
  const keyed: JSONSchemaProps = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: TEXT, v: INTEGER } },
  };

  test('sets and lists with keys are equal in any order', () => {
    expect(
      ruleOn("self.x == ['b', 'a'] && self.x != ['b', 'c'] && self.x != ['a']", set, ['a', 'b']),
    ).toEqual([]);
    const plain: JSONSchemaProps = { type: 'array', items: TEXT };
    expect(ruleOn("self.x != ['b', 'a']", plain, ['a', 'b'])).toEqual([]);
    const two = withSpec({ x: keyed, y: keyed }, { rule: 'self.x == self.y' });
    const [a, b] = [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ];
    expect(check(two, { spec: { x: [a, b], y: [b, a] } })).toEqual([]);
    expect(check(two, { spec: { x: [a, b], y: [b, { k: 'a', v: 3 }] } })).toHaveLength(1);
  });

  test('a sum of sets is their union, a sum of lists with keys lets the second one win', () => {
    expect(ruleOn("self.x + ['b', 'c'] == ['a', 'b', 'c']", set, ['a', 'b'])).toEqual([]);
    const two = withSpec({ x: keyed, y: keyed }, { rule: '(self.x + self.y).map(i, i.v) == [1, 3, 4]' });
    const x = [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ];
    expect(
      check(two, {
        spec: {
          x,
          y: [
            { k: 'b', v: 3 },
            { k: 'c', v: 4 },
          ],
        },
      }),
    ).toEqual([]);
  });
});

describe('errors', () => {
  const spec = { min: 5, max: 1 };
  const properties = { min: INTEGER, max: INTEGER, names: { type: 'object', additionalProperties: TEXT } };
  const rule = 'self.min <= self.max';
  const one = (more: ValidationRule): string[] => check(withSpec(properties, { rule, ...more }), { spec });

  test('name the rule, or say its message', () => {
    expect(one({})).toEqual([`spec: Invalid value: "object": failed rule: ${rule}`]);
    expect(one({ message: ' too small ' })).toEqual(['spec: Invalid value: "object": too small']);
  });

  test('say the message that an expression makes, unless it is none', () => {
    const message = 'fixed';
    const say = (messageExpression: string): string[] => one({ message, messageExpression });
    expect(say("'at least ' + string(self.min)")).toEqual(['spec: Invalid value: "object": at least 5']);
    const fixed = ['spec: Invalid value: "object": fixed'];
    for (const useless of ["' '", "'a\\nb'", 'string(1 / (self.min - 5))', 'self.min', 'self.nothing'])
      expect(say(useless)).toEqual(fixed);
  });

  test.each([
    ['FieldValueForbidden', 'Forbidden: m'],
    ['FieldValueRequired', 'Required value: m'],
    ['FieldValueDuplicate', 'Duplicate value: "object"'],
    ['FieldValueInvalid', 'Invalid value: "object": m'],
  ])('have the reason %s', (reason, text) => {
    const schema = withSpec(properties, { rule, reason, message: 'm' });
    const [error] = atOnce(compileRules(schema).run({ spec }));
    expect(error).toEqual({ type: reason, field: 'spec', message: text });
  });

  test.each<[string | undefined, JSONSchemaProps, JsonObject[string], string]>([
    [undefined, TEXT, 'a"b', 'Invalid value: "a\\"b": m'],
    [undefined, TEXT, '', 'Invalid value: "": m'],
    [undefined, INTEGER, 9223372036854775807n, 'Invalid value: 9223372036854775807: m'],
    [undefined, { type: 'boolean' }, false, 'Invalid value: false: m'],
    [undefined, { 'x-kubernetes-int-or-string': true }, '5%', 'Invalid value: "5%": m'],
    [undefined, { type: 'array', items: TEXT }, ['a'], 'Invalid value: m'],
    [undefined, { type: 'object', additionalProperties: TEXT }, {}, 'Invalid value: m'],
    ['FieldValueDuplicate', TEXT, 'a', 'Duplicate value: "a"'],
    ['FieldValueDuplicate', { type: 'array', items: TEXT }, [], 'Duplicate value'],
    ['FieldValueForbidden', TEXT, 'a', 'Forbidden: m'],
  ])('show scalar values since 1.35: %s %j %s', (reason, x, value, text) => {
    const broken = { rule: 'self != self', message: 'm', ...(reason === undefined ? {} : { reason }) };
    const schema = withSpec({ x: { ...x, [RULES]: [broken] } });
    expect(check(schema, { spec: { x: value } }, { showsValues: true })).toEqual([`spec.x: ${text}`]);
  });

  test.each([
    ['.max', 'spec.max'],
    ["['max']", 'spec.max'],
    ['.names.a', 'spec.names[a]'],
    [".names['a.b']", 'spec.names[a.b]'],
  ])('stand at the place %s that the rule names', (fieldPath, path) => {
    expect(one({ fieldPath })).toEqual([`${path}: Invalid value: "object": failed rule: ${rule}`]);
  });

  test('tell a missing field, an index beyond the end, a division by zero and an operand of the wrong type', () => {
    const list: JSONSchemaProps = { type: 'array', items: TEXT };
    const either: JSONSchemaProps = { 'x-kubernetes-int-or-string': true };
    expect(ruleOn("self.x == ''", TEXT, undefined)).toEqual([
      `spec: Invalid value: "object": no such key: x evaluating rule: self.x == ''`,
    ]);
    expect(ruleOn("self.x[2] == ''", list, [])).toEqual([
      `spec: Invalid value: "object": index out of bounds: 2 evaluating rule: self.x[2] == ''`,
    ]);
    expect(ruleOn('1 / self.x == 1', INTEGER, 0)).toEqual([
      'spec: Invalid value: "object": division by zero evaluating rule: 1 / self.x == 1',
    ]);
    expect(ruleOn('self.x > 5', either, 'a')).toEqual([
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.x > 5`,
    ]);
  });

  test('say where an expression does not compile', () => {
    expect(ruleOn('self.y == 1', INTEGER, 1)).toEqual([
      `spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'y'\n | self.y == 1\n | ....^`,
    ]);
    expect(ruleOn("self.x == 'a'", INTEGER, 1)[0]).toContain(
      "<input>:1:8: found no matching overload for '_==_' applied to '(int, string)'",
    );
    expect(ruleOn("self['x'] == 1", INTEGER, 1)[0]).toContain(
      "<input>:1:5: found no matching overload for '_[_]'",
    );
    expect(ruleOn('self.x', INTEGER, 1)[0]).toContain('cel expression must evaluate to a bool');
  });
});

describe('rules about changes', () => {
  const immutable = { rule: 'self == oldSelf', message: 'immutable' };
  const x: JSONSchemaProps = { type: 'string', [RULES]: [immutable] };

  test('are checked when there was a value before', () => {
    const schema = withSpec({ x });
    const refused = ['spec.x: Invalid value: "string": immutable'];
    expect(check(schema, { spec: { x: 'a' } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: {} } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'a' } } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'b' } } })).toEqual(refused);
    // A ratchet is for what was wrong before, not for changes.
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'b' } }, isRatcheting: true })).toEqual(
      refused,
    );
  });

  test('with an optional value before are always checked', () => {
    const rule = "oldSelf.hasValue() ? self == oldSelf.value() : self == 'first'";
    const schema = withSpec({
      x: { type: 'string', [RULES]: [{ rule, optionalOldSelf: true, message: 'no' }] },
    });
    expect(check(schema, { spec: { x: 'first' } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } })).toHaveLength(1);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'a' } } })).toEqual([]);
    expect(check(schema, { spec: { x: 'b' } }, { old: { spec: { x: 'a' } } })).toHaveLength(1);
  });

  test('see a field of an optional object', () => {
    const rule = "oldSelf.x.orValue('none') == 'none' || oldSelf.?x.orValue('') == self.x";
    const schema = withSpec({ x: TEXT }, { rule, optionalOldSelf: true, message: 'no' });
    expect(check(schema, { spec: { x: 'a' } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: {} } })).toEqual([]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'b' } } })).toHaveLength(1);
  });

  test('find items by their keys, and do not look at items without keys', () => {
    const items: JSONSchemaProps = {
      type: 'object',
      properties: { k: TEXT, l: INTEGER, v: { type: 'string', [RULES]: [immutable] } },
    };
    const list = (type: string): JSONSchemaProps =>
      withSpec({
        x: { type: 'array', items, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': ['k', 'l'] },
      });
    const old = {
      spec: {
        x: [
          { k: 'a', l: 1, v: 'one' },
          { k: 'a', l: 2, v: 'two' },
        ],
      },
    };
    const moved = {
      spec: {
        x: [
          { k: 'a', l: 2, v: 'two' },
          { k: 'b', l: 1, v: 'new' },
        ],
      },
    };
    const changed = { spec: { x: [{ k: 'a', l: 2, v: 'one' }] } };
    expect(check(list('map'), moved, { old })).toEqual([]);
    expect(check(list('map'), changed, { old })).toEqual(['spec.x[0].v: Invalid value: "string": immutable']);
    expect(check(list('atomic'), changed, { old })).toEqual([]);
  });

  test('find entries of maps by their keys', () => {
    const schema = withSpec({ m: { type: 'object', additionalProperties: x } });
    const old = { spec: { m: { a: '1', b: '2' } } };
    expect(check(schema, { spec: { m: { c: '3', a: '1' } } }, { old })).toEqual([]);
    expect(check(schema, { spec: { m: { a: '2' } } }, { old })).toEqual([
      'spec.m[a]: Invalid value: "string": immutable',
    ]);
  });
});

describe('the ratchet', () => {
  const never = { rule: 'false', message: 'never' };
  const warnings = (schema: JSONSchemaProps, object: JsonObject, old: JsonObject): [string[], string[]] => {
    const warned: string[] = [];
    const errors = check(schema, object, { old, isRatcheting: true, warn: (text) => warned.push(text) });
    return [errors, warned];
  };

  test('turns errors of values that did not change into warnings', () => {
    const schema = withSpec({ x: { type: 'string', [RULES]: [never] }, y: TEXT });
    const text = 'spec.x: Invalid value: "string": never';
    expect(warnings(schema, { spec: { x: 'a', y: '1' } }, { spec: { x: 'a', y: '2' } })).toEqual([
      [],
      [text],
    ]);
    expect(warnings(schema, { spec: { x: 'b' } }, { spec: { x: 'a' } })).toEqual([[text], []]);
    expect(check(schema, { spec: { x: 'a' } }, { old: { spec: { x: 'a' } } })).toEqual([text]);
  });

  test('goes by the whole list where items have no keys, and by the item where they have', () => {
    const items: JSONSchemaProps = { type: 'object', properties: { k: TEXT }, [RULES]: [never] };
    const plain = withSpec({ x: { type: 'array', items } });
    const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const keyed = withSpec({ x: { type: 'array', items, ...keys } });
    const [a, b] = [{ k: 'a' }, { k: 'b' }];
    expect(warnings(plain, { spec: { x: [a] } }, { spec: { x: [a] } })[0]).toEqual([]);
    expect(warnings(plain, { spec: { x: [a, b] } }, { spec: { x: [a] } })[0]).toHaveLength(2);
    expect(warnings(keyed, { spec: { x: [b, a] } }, { spec: { x: [a] } })[0]).toEqual([
      'spec.x[0]: Invalid value: "object": never',
    ]);
  });
});

describe('costs', () => {
  const numbers: JSONSchemaProps = { type: 'array', items: INTEGER };
  const list = (count: number): JsonObject => ({
    spec: { x: Array.from({ length: count }, (_, at) => at) },
  });
  const square = 'self.x.all(a, self.x.all(b, a + b >= 0))';

  test('a rule that costs too much ends the validation', () => {
    const schema = withSpec({ x: numbers }, { rule: square }, { rule: 'false' });
    expect(check(schema, list(2000))).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${square}`,
    ]);
    expect(check(schema, list(10))).toHaveLength(1);
  });

  test('rules that cost too much together end it too', () => {
    const schema = withSpec({ x: numbers }, ...Array.from({ length: 40 }, () => ({ rule: square })));
    expect(check(schema, list(400))).toEqual([
      'spec: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  test('a message that costs too much ends it with its own text', () => {
    const messageExpression = `${square} ? 'a' : 'b'`;
    const schema = withSpec({ x: numbers }, { rule: 'false', messageExpression }, { rule: 'false' });
    expect(check(schema, list(2000))).toEqual([
      `spec: Invalid value: "object": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${messageExpression}"`,
    ]);
  });

  test('long texts cost what it takes to look at them', () => {
    const schema = withSpec({ x: TEXT, y: numbers }, { rule: 'self.y.all(a, self.x.contains(string(a)))' });
    const spec = {
      x: `${'x'.repeat(3_000_000)}0123456789`,
      y: Array.from({ length: 1000 }, (_, at) => at % 10),
    };
    const begin = threadMs();
    expect(check(schema, { spec })[0]).toContain('call cost exceeds limit');
    expect(threadMs() - begin).toBeLessThan(1000);
  });

  test.each(['&&', '||'])('a long chain of %s is no deep one', (operator) => {
    const rule = Array.from({ length: 3_000 }, (_, at) => `self != ${at}`).join(` ${operator} `);
    const schema = withSpec({ x: { type: 'integer', [RULES]: [{ rule, message: 'no' }] } });
    expect(check(schema, { spec: { x: 20_000 } })).toEqual([]);
    expect(check(schema, { spec: { x: 2_999 } })).toHaveLength(operator === '&&' ? 1 : 0);
  });

  test('an expression has at most 50000 characters', () => {
    const schema = withSpec({ x: INTEGER }, { rule: `self.x == 0${' '.repeat(50_000)}`, message: 'no' });
    expect(check(schema, { spec: { x: 0 } })[0]).toContain(
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 50011, limit 50000',
    );
  });

  test('an expression that is too deep is refused', () => {
    const schema = withSpec({ x: INTEGER }, { rule: `0${' + self.x'.repeat(5_500)} == 0`, message: 'no' });
    expect(check(schema, { spec: { x: 0 } })[0]).toContain(
      'compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded',
    );
  });

  test('rules of many values are run in turns', () => {
    const schema = withSpec({
      x: { type: 'array', items: { type: 'integer', [RULES]: [{ rule: 'self >= 0' }] } },
    });
    const steps = compileRules(schema).run(list(10_000));
    let turns = 0;
    while (steps.next().done !== true) turns += 1;
    expect(turns).toBeGreaterThan(10);
  });
});
