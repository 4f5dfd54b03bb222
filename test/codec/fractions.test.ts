import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { fractionError } from '../../src/codec/fractions.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';

const types = loadTypes();

/** Undefined too where there is nothing to look at again. */
function errorIn(text: string, type = 'core/v1.Pod'): string | undefined {
  const { fractions } = parseJsonText(Buffer.from(text));
  return fractions === undefined ? undefined : fractionError(fractions(), types.message(type));
}

const refused = (number: string, place: string): string =>
  `json: cannot unmarshal number ${number} into Go struct field ${place}`;

test.each([
  ['{"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
  ['{"spec":{"priority": -1e3}}', refused('-1e3', 'PodSpec.spec.priority of type int32')],
  [
    '{"spec":{"activeDeadlineSeconds":1E+2}}',
    refused('1E+2', 'PodSpec.spec.activeDeadlineSeconds of type int64'),
  ],
  [
    '{"spec":{"securityContext":{"supplementalGroups":[1,2.0]}}}',
    refused('2.0', 'PodSecurityContext.spec.securityContext.supplementalGroups of type int64'),
  ],
  [
    '{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":8.0e1}}}]}}',
    refused('8.0e1', 'HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32'),
  ],
  ['{"a":1,"a":2,"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
  ['{"\\u0061":1,"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
])('%s has an integer that Go does not take for one', (text, error) => {
  expect(errorIn(text)).toBe(error);
});

test.each([
  '{"spec":{"priority":10,"containers":[{"image":"a:1.0","name":"1e3"}],"hostNetwork":true}}',
  '{"spec":{"containers":[{"resources":{"limits":{"cpu":1.0,"memory":1e3}}}]}}',
  '{"spec":{"unknown":1.0}}',
])('%s has none', (text) => {
  expect(errorIn(text)).toBeUndefined();
});

test('only numbers that are written so have a document read again', () => {
  const again = (text: string): boolean => parseJsonText(Buffer.from(text)).fractions !== undefined;
  expect(again('{"a":"1.0e3","b":[true,false,null,-10,{"c.e1":1}]}')).toBe(false);
  for (const number of ['1.5', '1e3', '1E3', '-0.1', '1e+3'])
    for (const text of [`{"a":${number}}`, `{"a": ${number} }`, `[1,${number}]`, `{"a":[\n${number}\n]}`])
      expect(again(text), text).toBe(true);
});
