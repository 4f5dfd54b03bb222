import { describe, expect, test } from 'vitest';
import type { FieldError } from '../../../src/api/status.ts';
import type { JSONSchemaProps, ValidationRule } from '../../../src/api/types/apiextensions/v1.ts';
import { FieldPath } from '../../../src/object/field-path.ts';
import { checkRules } from '../../../src/structural/rules/check-rules.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { expectWithin } from '../../kit/expect-within.ts';
import { threadMs } from '../../kit/thread-time.ts';

const RULES = 'x-kubernetes-validations';
const TEXT: JSONSchemaProps = { type: 'string' };
const SMALL: JSONSchemaProps = { type: 'string', maxLength: 10 };

function problemsOf(schema: JSONSchemaProps): string[] {
  const found: FieldError[] = [];
  atOnce(checkRules(FieldPath.root(found).field('schema'), schema));
  return found.map(({ field, message }) => `${field}: ${message}`);
}

/** A root with a field `x`, which has these rules. */
const rulesOn = (x: JSONSchemaProps, ...rules: ValidationRule[]): JSONSchemaProps => ({
  type: 'object',
  properties: { x: { ...x, [RULES]: rules } },
});

const AT = 'schema.properties[x].x-kubernetes-validations[0]';

describe('a rule', () => {
  test('that compiles and is cheap is good', () => {
    expect(
      problemsOf(rulesOn(SMALL, { rule: "self.startsWith('a')", messageExpression: "'not ' + self" })),
    ).toEqual([]);
  });

  test.each<[string, ValidationRule, string]>([
    ['is no expression', { rule: 'self +' }, 'rule'],
    ['asks for a field that is not there', { rule: 'self.y == 1' }, 'rule'],
    ['has another type than bool', { rule: 'self' }, 'rule'],
    [
      'has a message that is no expression',
      { rule: 'true', messageExpression: 'self +' },
      'messageExpression',
    ],
    ['has a message that is no text', { rule: 'true', messageExpression: 'true' }, 'messageExpression'],
  ])('that %s is refused with all of it', (_, rule, field) => {
    const [problem, ...others] = problemsOf(rulesOn(SMALL, rule));
    expect(others).toEqual([]);
    const { messageExpression = '' } = rule;
    expect(problem?.split(', Reason:')[0]).toBe(
      `${AT}.${field}: Invalid value: apiextensions.ValidationRule{Rule:${JSON.stringify(rule.rule)}, Message:"", MessageExpression:${JSON.stringify(messageExpression)}`,
    );
  });

  test.each([
    ['self +', '}: compilation failed: ERROR: <input>:1:7: Syntax error: '],
    ['self.y == 1', '}: compilation failed: ERROR: <input>:1:5: '],
    [
      'foo(self)',
      "}: compilation failed: ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')",
    ],
    ['self', '}: cel expression must evaluate to a bool'],
    [
      'self + 1 == 2',
      "}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_+_' applied to '(string, int)'",
    ],
  ])('%s is refused with a reason', (rule, why) => {
    expect(problemsOf(rulesOn(SMALL, { rule }))[0]).toContain(why);
  });

  test('may compare with old values where these can be found', () => {
    const rule = { rule: 'self == oldSelf' };
    const item: JSONSchemaProps = { type: 'object', properties: { k: { ...SMALL, [RULES]: [rule] } } };
    const list = (type?: string): JSONSchemaProps => ({
      type: 'object',
      properties: {
        x: {
          type: 'array',
          maxItems: 5,
          ...(type === undefined ? {} : { 'x-kubernetes-list-type': type }),
          'x-kubernetes-list-map-keys': ['k'],
          items: item,
        },
      },
    });
    const refused = [
      'schema.properties[x].items.properties[k].x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[x]',
    ];
    expect(problemsOf(list('map'))).toEqual([]);
    expect(problemsOf(list('atomic'))).toEqual(refused);
    expect(problemsOf(list('set'))).toEqual(refused);
    expect(problemsOf(list())).toEqual(refused);
    expect(problemsOf(rulesOn({ ...(list().properties?.x ?? {}), items: SMALL }, rule))).toEqual([]);
  });

  test('without oldSelf says nothing of an optional one', () => {
    expect(problemsOf(rulesOn(SMALL, { rule: "self != ''", optionalOldSelf: false }))).toEqual([
      `${AT}.optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used in rule`,
    ]);
    expect(problemsOf(rulesOn(SMALL, { rule: 'oldSelf.hasValue()', optionalOldSelf: true }))).toEqual([]);
  });

  test('of what has no schema has no types', () => {
    expect(problemsOf(rulesOn({ 'x-kubernetes-preserve-unknown-fields': true }, { rule: 'true' }))).toEqual([
      'schema.properties[x].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ]);
  });
});

describe('costs', () => {
  const ADVICE =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  const list = (items: JSONSchemaProps, maxItems?: number): JSONSchemaProps => ({
    type: 'array',
    items,
    ...(maxItems === undefined ? {} : { maxItems }),
  });

  test('beyond the limit of an expression are refused with the factor', () => {
    const pairs = { rule: 'self.all(a, self.all(b, a != b))' };
    expect(problemsOf(rulesOn(list(SMALL, 100), pairs))).toEqual([]);
    expect(problemsOf(rulesOn(list(SMALL, 1500), pairs))).toEqual([
      `${AT}.rule: Forbidden: estimated rule cost exceeds budget by factor of 2.0x ${ADVICE}`,
    ]);
    expect(problemsOf(rulesOn(list(SMALL, 1100), pairs))[0]).toMatch(/by factor of 1\.\d{6}x \(/);
    expect(problemsOf(rulesOn(list(TEXT), pairs))[0]).toContain('by factor of more than 100x (');
    expect(
      problemsOf(
        rulesOn(list(SMALL, 1500), { rule: 'true', messageExpression: `${pairs.rule} ? 'a' : 'b'` }),
      ),
    ).toEqual([
      `${AT}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of 2.0x ${ADVICE}`,
    ]);
  });

  test('of texts whose length is not known, as that of a number is not to Kubernetes, are beyond all limits', () => {
    const messageExpression = "'invalid attempts: ' + string(self)";
    const problems = problemsOf(rulesOn({ type: 'integer' }, { rule: 'self >= 0', messageExpression }));
    expect(problems).toEqual([
      `${AT}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x ${ADVICE}`,
      `${AT}.messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${ADVICE}`,
    ]);
  });

  test('of a value count as often as there may be such values', () => {
    const rule = { rule: "self.contains('a')" };
    const inner: JSONSchemaProps = { type: 'string', maxLength: 1000, [RULES]: [rule] };
    const nested = (maxItems?: number): string[] =>
      problemsOf({ type: 'object', properties: { x: list(list(inner, 100), maxItems) } });
    expect(nested(10)).toEqual([]);
    expect(nested(1000)[0]).toContain('estimated rule cost exceeds budget by factor of 4.0x');
    // Without a bound as many as go into a request: (3 MiB / 3) of the shortest texts.
    expect(nested()[0]).toContain('estimated rule cost exceeds budget by factor of 42.0x');
  });

  test('of all rules together have a limit, and the most expensive ones are named', () => {
    const rule = { rule: 'self.all(a, self.all(b, a != b))' };
    const names = Array.from({ length: 12 }, (_, at) => `x${at}`);
    const properties = Object.fromEntries(
      names.map((name, at) => [name, { ...list(SMALL, 1000 - (at === 3 ? 0 : 1)), [RULES]: [rule] }]),
    );
    const problems = problemsOf({ type: 'object', properties });
    expect(problems).toHaveLength(5);
    expect(problems[0]).toBe(
      'schema.properties[x3].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    );
    expect(problems[4]).toMatch(
      /^schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1\.\d{6}x \(/,
    );
  });
});

describe('defaults', () => {
  test('obey the rules of their values', () => {
    const rule = { rule: "self.startsWith('a')", message: 'must begin with a' };
    expect(problemsOf(rulesOn({ ...SMALL, default: 'ab' }, rule))).toEqual([]);
    expect(problemsOf(rulesOn({ ...SMALL, default: 'b' }, rule))).toEqual([
      'schema.properties[x].default: Invalid value: "string": must begin with a',
    ]);
    const nested: JSONSchemaProps = {
      type: 'object',
      default: { y: 'b' },
      properties: { y: { ...SMALL, [RULES]: [rule] } },
    };
    expect(problemsOf({ type: 'object', properties: { x: nested } })).toEqual([
      'schema.properties[x].default.y: Invalid value: "string": must begin with a',
    ]);
  });

  test('obey rules for new values too', () => {
    const rule = { rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'never new' };
    expect(problemsOf(rulesOn({ ...SMALL, default: 'a' }, rule))).toEqual([
      'schema.properties[x].default: Invalid value: "string": never new',
    ]);
  });
});

test('hostile definitions are checked in turns', () => {
  const long = Array.from({ length: 200 }, (_, at) => `self.a${at} != ''`).join(' && ');
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, SMALL]));
  const schema = rulesOn(
    { type: 'object', properties },
    ...Array.from({ length: 200 }, () => ({ rule: long })),
  );
  const steps = checkRules(FieldPath.root(), schema);
  let longest = 0;
  let turns = 0;
  for (;;) {
    const begun = threadMs();
    const { done } = steps.next();
    if (done === true) break;
    turns += 1;
    longest = Math.max(longest, threadMs() - begun);
  }
  expect(turns).toBeGreaterThanOrEqual(200);
  expectWithin(200, longest);
});
