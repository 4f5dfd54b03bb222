import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { DecodeError } from '../../src/codec/decode-error.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';

const types = loadTypes();
const decode = (type: string, object: JsonObject) => decodeObject(object, types.message(type));

test('a pod gets the constants Kubernetes gives it, in the order of its type', () => {
  const { object } = decode('core/v1.Pod', {
    spec: { containers: [{ image: 'nginx', name: 'c', ports: [{ containerPort: 80 }] }] },
    metadata: { labels: { a: 'b' }, name: 'p' },
    apiVersion: 'v1',
    kind: 'Pod',
  });
  expect(Object.keys(object)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
  expect(object.spec).toEqual({
    containers: [
      {
        name: 'c',
        image: 'nginx',
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
});

test('zero values are kept where absence means something else, and dropped where it does not', () => {
  const { object } = decode('apps/v1.Deployment', {
    spec: { replicas: 0, minReadySeconds: 0, paused: false, template: {} },
  });
  expect(object.spec).toMatchObject({ replicas: 0 });
  expect(object.spec).not.toHaveProperty('minReadySeconds');
  expect(object.spec).not.toHaveProperty('paused');
});

test('null bytes of a map are empty', () => {
  expect(decode('core/v1.Secret', { data: { a: null } }).object.data).toEqual({ a: '' });
});

test('unknown fields are named with their place and dropped', () => {
  const { object, unknown } = decode('core/v1.Pod', {
    spec: { containers: [{ name: 'c', imagee: 'x' }], nope: 1 },
    extra: {},
  });
  expect(unknown).toEqual(['spec.containers[0].imagee', 'spec.nope', 'extra']);
  expect(JSON.stringify(object)).not.toContain('imagee');
});

test.each([
  [
    'core/v1.Pod',
    { spec: { containers: [{ ports: [{ containerPort: '80' }] }] } },
    'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  ],
  [
    'apps/v1.Deployment',
    { spec: { replicas: 'two' } },
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    'core/v1.Pod',
    { spec: { containers: {} } },
    'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  [
    'core/v1.Pod',
    { metadata: { labels: { a: 1 } } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  ['core/v1.Secret', { data: { a: 'not base64!' } }, 'illegal base64 data at input byte'],
  [
    'core/v1.Pod',
    { spec: { containers: [{ resources: { limits: { cpu: 'much' } } }] } },
    'quantities must match the regular expression',
  ],
])("a wrong type in %s is reported in Kubernetes' words", (type, object, message) => {
  expect(() => decode(type, object as JsonObject)).toThrow(DecodeError);
  expect(() => decode(type, object as JsonObject)).toThrow(message);
});

test('fields that appear twice are named, in JSON and in YAML', () => {
  const json = parseJsonText(Buffer.from('{"spec":{"a":1,"a":2,"b":[{"c":1,"c":2}]},"x":"\\"a\\":{"}'));
  expect(json.duplicates).toEqual(['spec.a', 'spec.b[0].c']);
  expect(parseJsonText(Buffer.from('{"a":{"b":1},"c":{"b":1}}')).duplicates).toEqual([]);
  expect(parseYamlText(Buffer.from('spec:\n  a: 1\n  a: 2\n')).duplicates).toEqual([
    'line 3: key "a" already set in map',
  ]);
});

test('YAML is read as Kubernetes reads it', () => {
  const { value } = parseYamlText(Buffer.from('a: yes\nb: 0644\nc: on\nd: "yes"\n5: five\n'));
  expect(value).toEqual({ a: true, b: 420, c: true, d: 'yes', 5: 'five' });
  expect(() => parseYamlText(Buffer.from('a: 1\n---\nb: 2\n'))).toThrow(/only one YAML document/);
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefghi'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`),
  ];
  expect(() => parseYamlText(Buffer.from(bomb.join('\n')))).toThrow(SyntaxError);
});

test('parts of a decoded object are taken as they are; new parts beside them are checked', () => {
  const type = types.message('core/v1.Pod');
  const { object: known } = decode('core/v1.Pod', {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'nginx' }] },
  });
  const changed = { ...known, metadata: { name: 'p', labels: { a: 'b' }, lables: {} } };
  const { object, unknown } = decodeObject(changed, type, { known });
  expect(object.spec).toBe(known.spec);
  expect(unknown).toEqual(['metadata.lables']);
  expect(JSON.stringify(object)).toBe(JSON.stringify(decodeObject(changed, type).object));
  const wrong = { ...known, spec: { containers: [{ name: 1 }] } };
  expect(() => decodeObject(wrong, type, { known })).toThrow(
    'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
  );
});
