import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { createEnvironment } from '../../src/cel/environment.ts';
import { describeFailure } from '../../src/cel/issues.ts';
import { AUTHORIZER, CelAuthorizer } from '../../src/cel/libraries/authorizer-checks.ts';
import { compileCel } from '../../src/cel/program.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

const OBJECT: JsonValue = {
  metadata: { name: 'abc', namespace: 'ns', labels: { foo: 'bar', 'a/b': 'x' } },
  spec: {
    replicas: 3,
    ratio: 0.5,
    containers: [
      { name: 'a', image: 'x:1', ports: [{ port: 80 }] },
      { image: 'y', name: 'b' },
    ],
    initContainers: [{ args: ['x'], name: 'i' }],
  },
};

const evaluate = (expression: string): unknown =>
  compileCel(expression, { object: 'dyn' }).evaluate({ object: OBJECT });

/** The examples of Kubernetes' own documentation of its libraries, for the most part. */
const TRUE: Readonly<Record<string, readonly string[]>> = {
  lists: [
    '[1, 2, 3].isSorted()',
    "['a', 'b', 'b', 'c'].isSorted()",
    '![2.0, 1.0].isSorted()',
    '[].isSorted()',
    '[1, 3].sum() == 4',
    '[1, 3].first().value() == 1 && [1, 3].last().value() == 3 && ![1].slice(0, 0).first().hasValue()',
    '[1.0, 3.0].sum() == 4.0',
    "[duration('1m'), duration('1s')].sum() == duration('1m1s')",
    '[].sum() == 0',
    '[1, 3].min() == 1',
    '[1, 3].max() == 3',
    '([0] + [7]).min() == 0',
    '[1, 2, 2, 3].indexOf(2) == 1',
    "['a', 'b', 'b', 'c'].lastIndexOf('b') == 2",
    '[1.0].indexOf(1.1) == -1',
    "[].indexOf('string') == -1",
    'object.spec.containers.map(c, c.name).indexOf("b") == 1',
  ],
  sets: [
    'sets.contains([1], [])',
    '!sets.contains([], [1])',
    'sets.contains([1, 2, 3, 4], [2, 3])',
    'sets.equivalent([1], [1, 1])',
    '!sets.equivalent([1], [1, 2])',
    'sets.intersects([1], [1, 2])',
    '!sets.intersects([1], [])',
  ],
  texts: [
    "'hello'.charAt(4) == 'o' && 'hello'.charAt(5) == ''",
    "'hello mellow'.indexOf('jello') == -1",
    "'hello mellow'.lastIndexOf('ello') == 7",
    "['hello', 'mellow'].join(' ') == 'hello mellow'",
    "'hello hello'.replace('he', 'we') == 'wello wello'",
    "'hello hello'.replace('he', 'we', 1) == 'wello hello'",
    "'hello hello'.replace('he', 'we', 0) == 'hello hello'",
    "'hello hello hello'.split(' ', 2) == ['hello', 'hello hello']",
    "'tacocat'.substring(0, 4) == 'taco'",
    "'TacoCat'.lowerAscii() == 'tacocat'",
    "'  trim  '.trim() == 'trim'",
    "'this is a string: %s\\nand an integer: %d'.format(['str', 42]) == 'this is a string: str\\nand an integer: 42'",
    "'%s, %s'.format([[1, 'a', null], {'k': 1.5}]) == '[1, \"a\", null], {\"k\":1.500000}'",
    "'%f %.1f %s %s'.format([1234567.5, 0.05, {1: true}, [duration('90s'), b'a']]) == '1,234,567.500000 0.1 {1:true} [duration(\"90s\"), b\"a\"]'",
    "'😀a😀'.indexOf('a') == 1 && '😀a😀'.lastIndexOf('😀') == 2 && '😀a'.substring(1) == 'a' && '😀a'.charAt(1) == 'a'",
    "'😀a'.split('') == ['😀', 'a'] && 'abc'.split('', 2) == ['a', 'bc'] && 'a,b'.split(',', 0) == []",
    "'ab'.replace('', '-') == '-a-b-' && 'ab'.replace('', '-', 2) == '-a-b' && ''.replace('', '-') == '-'",
    "'ÀB'.lowerAscii() == 'Àb' && 'éa'.upperAscii() == 'éA' && 'hello'.lastIndexOf('l', 2) == 2",
    'strings.quote("a\\"b\\n\\x01é") == "\\"a\\\\\\"b\\\\n\\x01é\\""',
    "string(1e6) == '1e+06' && string(123456.5) == '123456.5' && string(1e-5) == '1e-05' && string(-0.0) == '-0'",
    "string(duration('-1ns')) == '-0.000000001s' && string(duration('90m')) == '5400s'",
    "int('+5') == 5 && double('1_000') == 1000.0 && double('-Inf') < 0.0 && bool('T') && !bool('f')",
    'object.spec.containers.flatten() == object.spec.containers && object.spec.containers.indexOf(1) == -1',
    '{1: 2, true: 3}.all(k, k == 1 || k == true) && {1u: 2}[1] == 2 && {1: 2}.map(k, k) == [1] && dyn(1.0) in {1: 2}',
    "'%.2f %e %b %x %X %o %%'.format([2.718, 1234.5, 5, 'a', 255, 8]) == '2.72 1.234500×10⁰³ 101 61 FF 10 %'",
    'strings.quote(\'single-quote with "double quote"\') == \'"single-quote with \\\\"double quote\\\\""\'',
    "'abc 123 def'.find('[0-9]+') == '123'",
    "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
    "string(timestamp('2023-01-01T00:00:00Z')) == '2023-01-01T00:00:00Z'",
    "string(duration('90s')) == '90s'",
    "int(timestamp('1970-01-01T00:00:10Z')) == 10",
  ],
  urls: [
    "url('/path').getScheme() == ''",
    "url('https://example.com/').getScheme() == 'https'",
    "url('https://example.com:80/').getHost() == 'example.com:80'",
    "url('https://[::1]/').getHost() == '[::1]'",
    "url('https://[::1]:80/').getHostname() == '::1'",
    "url('https://127.0.0.1:80/').getHostname() == '127.0.0.1'",
    "url('https://example.com:80/').getPort() == '80'",
    "url('https://example.com/').getPort() == ''",
    "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
    "url('https://example.com').getEscapedPath() == ''",
    "url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
    "url('https://example.com/path?').getQuery() == {}",
    "isURL('https://user:pass@example.com:80/path?query=val#fragment')",
    "isURL('/absolute-path')",
    "!isURL('https://a:b:c/')",
    "!isURL('../relative-path')",
  ],
  quantities: [
    "quantity('1.5G') == quantity('1500M')",
    "isQuantity('1.3Gi')",
    "!isQuantity('1.3GiB')",
    "!isQuantity('200Ki ')",
    "quantity('500000G').isInteger()",
    "!quantity('50m').isInteger()",
    "quantity('50k').asInteger() == 50000",
    "quantity('50.703k').asApproximateFloat() == 50703.0",
    "quantity('1500M').isGreaterThan(quantity('1.3G'))",
    "quantity('100').isLessThan(quantity('101'))",
    "quantity('-200M').compareTo(quantity('0')) == -1",
    "quantity('50k').add(20) == quantity('50020')",
    "quantity('50k').sub(quantity('20k')).sub(1).asInteger() == 29999",
    "sign(quantity('-1')) == -1",
    "quantity('500Mi').add(quantity('500Mi')).compareTo(quantity('1Gi')) < 0",
  ],
  addresses: [
    "isIP('127.0.0.1') && isIP('::1')",
    "!isIP('127.0.0.256') && !isIP(':::1') && !isIP('fe80::1%en0') && !isIP('::ffff:1.2.3.4')",
    "ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::ABCD')",
    "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
    "ip('2001:db8::abcd') == ip('2001:DB8::ABCD')",
    "string(ip('2001:DB8::ABCD')) == '2001:db8::abcd'",
    "ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified()",
    "ip('127.0.0.1').isLoopback() && !ip('2001:db8::abcd').isLoopback()",
    "ip('224.0.0.1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('ff02::1').isLinkLocalMulticast() && !ip('fd00::1').isLinkLocalMulticast()",
    "ip('169.254.169.254').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()",
    "!ip('ff00::1').isGlobalUnicast()",
    "isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0/33')",
    "cidr('192.168.0.0/16').containsIP('192.168.0.1') && !cidr('192.168.0.0/16').containsIP(ip('192.169.0.1'))",
    "cidr('192.168.0.0/24').containsCIDR('192.168.0.0/25') && !cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/23'))",
    "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')",
    "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')",
    "cidr('192.168.0.0/24').prefixLength() == 24",
    "string(cidr('192.168.0.0/24')) == '192.168.0.0/24'",
    "type(ip('192.168.0.1')) == net.IP && type(cidr('192.168.0.0/24')) == net.CIDR",
  ],
  formats: [
    "!format.dns1123Label().validate('my-label-name').hasValue()",
    "format.dns1123Label().validate('My-Label').value().size() == 1",
    "!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue()",
    "format.qualifiedName().validate('/a').hasValue()",
    "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "format.byte().validate('aGVsbG8').hasValue() && !format.byte().validate('aGVsbG8=').hasValue()",
    "format.date().validate('2021-02-30').hasValue() && !format.date().validate('2021-01-01').hasValue()",
    "format.datetime().validate('2020-01-32T00:00:00Z').hasValue()",
    "!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()",
    "!format.uri().validate('http://example.com').hasValue()",
    "format.named('dns1123Label').value() == format.dns1123Label()",
    "!format.named('unknownFormat').hasValue()",
  ],
  optionals: [
    "object.?metadata.?labels.?foo.orValue('') == 'bar'",
    "object.?status.?phase.orValue('none') == 'none'",
    "object.metadata.labels[?'a/b'].hasValue()",
    "optional.ofNonZeroValue('') == optional.none()",
    'optional.none() != null',
    '!(null == optional.of(1))',
    "format.dns1123Label().validate('Not a label') != null",
    'optional.of(1).optMap(v, v + 1) == optional.of(2)',
    '!optional.none().optMap(v, v + 1).hasValue()',
    'optional.of(1).optFlatMap(v, optional.of(v + 1)).value() == 2',
    'object.spec.?initContainers.orValue([]).size() == 1',
  ],
};

describe.each(Object.entries(TRUE))('functions of %s', (_library, expressions) => {
  test.each(expressions)('%s', (expression) => {
    expect(evaluate(expression)).toBe(true);
  });
});

test('equality is by value, in any order of fields and with first items of any type', () => {
  for (const expression of [
    "timestamp('2023-01-01T00:00:00Z') != null && quantity('1') != null && null != ip('::1')",
    "{'b': 1, 'a': 'x'} == {'a': 'x', 'b': 1}",
    'object.spec == object.spec',
    'object.spec.containers != object.spec.initContainers',
    '(object.spec.containers + object.spec.initContainers).all(c, has(c.name))',
    "dyn(1) != 'a' && dyn(1) == 1.0 && 1 < 1.5 && 2u > 1",
    'object.spec.ratio * 2.0 == 1.0 && object.spec.replicas in [1.0, 3.0]',
    'has(object.spec.containers[0].ports) && !has(object.spec.containers[1].ports)',
    '!has(dyn(null).a) && !has(dyn(1).a) && !has(object.metadata.name.a)',
  ])
    expect(evaluate(expression), expression).toBe(true);
});

test.each([
  ["quantity('10Mm')", "unable to parse quantity's suffix"],
  ["quantity('x')", 'quantities must match the regular expression'],
  ["ip('x')", 'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP'],
  ["url('../x')", 'URL parse error during conversion from string: parse "../x": invalid URI for request'],
  ["'a'.charAt(2)", 'index out of range: 2'],
  ['[].max()', 'max called on empty list'],
  ['has(object.spec.containers.name)', "unsupported index type 'string' in list"],
  ["quantity('50m').asInteger()", 'cannot convert value to integer'],
  ["dyn('hello').substring(9)", 'index out of range: 9'],
  ["dyn('hello').substring(3, 1)", 'invalid substring range. start: 3, end: 1'],
  ["dyn('hello').indexOf('l', -1)", 'index out of range: -1'],
  ["int(dyn('1.5'))", "type conversion error from 'string' to 'int'"],
  ["uint(dyn('+5'))", "type conversion error from 'string' to 'uint'"],
  ["double(dyn(''))", "type conversion error from 'string' to 'double'"],
  ["bool(dyn('yes'))", "type conversion error from 'string' to 'bool'"],
  ["duration(dyn('1y'))", "type conversion error from 'string' to 'google.protobuf.Duration'"],
  ["timestamp(dyn('now'))", "type conversion error from 'string' to 'google.protobuf.Timestamp'"],
  ['int(dyn(1e19))', 'integer overflow'],
  ['uint(dyn(-1))', 'unsigned integer overflow'],
  ['18446744073709551615u + 1u', 'unsigned integer overflow'],
  ['-(-9223372036854775807 - 1)', 'integer overflow'],
  ['(-9223372036854775807 - 1) / -1', 'integer overflow'],
  ["timestamp('9999-12-31T23:59:59Z') + duration('1h')", 'timestamp overflow'],
  ['dyn(1).lowerAscii()', 'no such overload: lowerAscii(int)'],
  ["object.spec.containers.join(',')", 'no such overload: join(list, string)'],
  ['string(object.spec)', 'no such overload: string(map)'],
  ['dyn(1).size()', 'no such overload: size'],
  ["dyn(1).contains('a')", 'no such overload'],
  ["object.spec.containers['a']", "unsupported index type 'string' in list"],
  ["'%d'.format([object.spec.ratio])", 'decimal clause can only be used on integers, was given double'],
])('%s fails with a reason', (expression, reason) => {
  try {
    evaluate(expression);
    expect.unreachable();
  } catch (error) {
    expect(describeFailure(error)).toContain(reason);
  }
});

test.each([
  ['a text that grows', `'aaaaaaaaaa'${".replace('a', 'aaaaaaaaaa')".repeat(12)}`],
  [
    'a list that grows',
    `${'(l + l)'.replaceAll('l', '(object.spec.containers + object.spec.containers)')}`.concat(
      '.size() > 0 && ',
      nested(8),
    ),
  ],
  ['loops in loops', nested(8)],
  ['loops that swallow what goes wrong', nested(8).replace('true', '1 / 0 > 0 || 1 / 0 > 0')],
])('%s ends before it keeps the server busy', (_what, expression) => {
  const cpuMs = cpuMsOf(() =>
    expect(() => evaluate(expression)).toThrow('operation cancelled: actual cost limit exceeded'),
  );
  expect(cpuMs).toBeLessThan(2000);
});

function nested(depth: number): string {
  const list = '[1,2,3,4,5,6,7,8,9,10]';
  return depth === 0 ? 'true' : `${list}.all(x${depth}, ${nested(depth - 1)})`;
}

/** A value of every type that is a class in JavaScript. */
const OPAQUE = [
  ...['authorizer', "authorizer.path('/a')", "authorizer.group('a')", "authorizer.group('a').resource('b')"],
  ...["authorizer.path('/a').check('get')", 'authorizer.requestResource', "quantity('1')", "ip('1.1.1.1')"],
  ...["cidr('1.0.0.0/8')", "url('http://a/')", "format.named('dns1123Label').value()", "duration('1s')"],
  ...["timestamp('2020-01-01T00:00:00Z')", '1u', 'type(1)', "b'abc'"],
];

test.each(OPAQUE)('%s has the members that are declared and no others', (value) => {
  const authorizer = new CelAuthorizer(
    () => ({ allowed: true, reason: 'because' }),
    { serviceAccount: { namespace: 'a', name: 'b' } },
    { group: 'a', resource: 'b', subresource: '', namespace: '', name: '' },
  );
  const environment = createEnvironment().registerVariable('authorizer', AUTHORIZER);
  const own = [
    'authorizer',
    'ask',
    'asker',
    'answer',
    'fields',
    'path',
    'group',
    'nanos',
    'seconds',
    'value',
  ];
  const inherited = ['constructor', '__proto__', 'toString', 'valueOf', 'name', 'host', 'length', 'buffer'];
  const read = (expression: string): unknown => {
    try {
      return environment.parse(expression)({ authorizer });
    } catch (error) {
      // A function that was found and cannot be a result.
      return String(error).includes('Unsupported type') ? error : 'refused';
    }
  };
  for (const name of [...own, ...inherited])
    for (const expression of [
      ...[`${value}.${name}`, `dyn(${value}).${name}`, `dyn(${value})['${name}']`],
      ...[`(${value}).?${name}.orValue('refused')`, `dyn(${value})[?'${name}'].orValue('refused')`],
    ])
      expect([expression, read(expression)]).toEqual([expression, 'refused']);
});
