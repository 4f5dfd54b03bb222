import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Cluster } from '../../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

/** What cannot be read or made an object: codes and texts, to the letter those of kube-apiserver 1.31. */

let shared: SharedCluster;
let cluster: Cluster;

const CORE = '/api/v1/namespaces/default';
const MAPS = `${CORE}/configmaps`;
const TARGET = `${MAPS}/target`;
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/web';
const YAML = { 'content-type': 'application/yaml' };
const PROTOBUF = { 'content-type': 'application/vnd.kubernetes.protobuf' };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }];
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } };
  const spec = { replicas: 1, selector: { matchLabels: { a: 'b' } }, template };
  await cluster.request('POST', DEPLOYMENT.replace('/web', ''), { metadata: { name: 'web' }, spec });
  await cluster.request('POST', MAPS, { metadata: { name: 'target' }, data: { a: '<b>' } });
});

afterAll(() => shared[Symbol.asyncDispose]());

const badRequest = (message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason: 'BadRequest',
  code: 400,
});

const INTO_HEAD = "couldn't get version/kind; json parse error: ";
const HEAD =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
const SHORT = Buffer.from('6b38730012', 'hex');
const envelope = (kind: string, raw: string): Buffer => {
  const type = Buffer.concat([
    Buffer.from('0a027631', 'hex'),
    Buffer.from([0x12, kind.length]),
    Buffer.from(kind),
  ]);
  const body = Buffer.from(raw, 'hex');
  return Buffer.concat([
    Buffer.from('6b387300', 'hex'),
    Buffer.from([0x0a, type.length]),
    type,
    Buffer.from([0x12, body.length]),
    body,
  ]);
};

test.each<[string | Buffer, Record<string, string>, string]>([
  ['', {}, `${INTO_HEAD}unexpected end of JSON input (<empty>)`],
  ['ap', {}, `${INTO_HEAD}invalid character 'a' looking for beginning of value (6170)`],
  ['{"metadata":', {}, `${INTO_HEAD}unexpected end of JSON input ({"metadata":)`],
  [
    `{"metadata":{"name":"a"},"data":{"a":"b",}}`,
    {},
    `${INTO_HEAD}invalid character '}' looking for beginning of object key string ({"metadata":{"name":"a"},"data ...)`,
  ],
  [
    'a'.repeat(31),
    {},
    `${INTO_HEAD}invalid character 'a' looking for beginning of value (${'61'.repeat(30)} ...)`,
  ],
  ['[]', {}, `${INTO_HEAD}json: cannot unmarshal array into Go value of type ${HEAD} (5b5d)`],
  ['"x"', {}, `${INTO_HEAD}json: cannot unmarshal string into Go value of type ${HEAD} (227822)`],
  ['5', {}, `${INTO_HEAD}json: cannot unmarshal number into Go value of type ${HEAD} (35)`],
  ['true', {}, `${INTO_HEAD}json: cannot unmarshal bool into Go value of type ${HEAD} (74727565)`],
  [
    '{"kind":5}',
    {},
    `${INTO_HEAD}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`,
  ],
  ['{"apiVersion":"a/b/c"}', {}, 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'],
  ['a: b: c', YAML, 'yaml: mapping values are not allowed in this context (613a20623a2063)'],
  ['- a', YAML, `${INTO_HEAD}json: cannot unmarshal array into Go value of type ${HEAD} (2d2061)`],
  ['x: 1\ny: [', YAML, 'yaml: line 2: did not find expected node content (783a20310a793a205b)'],
  ['', PROTOBUF, 'empty data (<empty>)'],
  [
    '{}',
    PROTOBUF,
    'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})',
  ],
  [SHORT.subarray(0, 4), PROTOBUF, 'empty body (6b387300)'],
  [SHORT, PROTOBUF, 'unexpected EOF (6b38730012)'],
  [Buffer.from('6b3873003f', 'hex'), PROTOBUF, 'proto: illegal wireType 7 (6b3873003f)'],
  [Buffer.from('6b38730008', 'hex'), PROTOBUF, 'proto: wrong wireType = 0 for field TypeMeta (6b38730008)'],
])('a body that does not say what it is: %j', async (body, headers, why) => {
  const { code, json } = await cluster.request('POST', MAPS, body, headers);
  expect({ code, json }).toEqual({
    code: 400,
    json: badRequest(`the object provided is unrecognized (must be of type ConfigMap): ${why}`),
  });
  const { json: replaced } = await cluster.request('PUT', TARGET, body, headers);
  expect(replaced).toEqual(json);
});

test.each<[string | Buffer, Record<string, string>, string]>([
  [
    '{"kind":"Pod","apiVersion":"v1"}',
    {},
    'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    '{"kind":"Deployment","apiVersion":"apps/v1"}',
    {},
    'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
  ],
  [
    '{"kind":"Nothing"}',
    {},
    'Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    '{"apiVersion":"apps/v1"}',
    {},
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    '{"kind":"Container"}',
    {},
    'Container in version "v1" cannot be handled as a ConfigMap: no kind "Container" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    '{"metadata":{"name":5}}',
    {},
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
  ],
  [
    envelope('Pod', '0fff'),
    PROTOBUF,
    'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    envelope('ConfigMap', '0aff'),
    PROTOBUF,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
  ],
])('a body of another type: %j', async (body, headers, message) => {
  const { code, json } = await cluster.request('POST', MAPS, body, headers);
  expect({ code, json }).toEqual({ code: 400, json: badRequest(message) });
});

test('integers are written without a point and an exponent, in JSON; where any number may stand, as one likes', async () => {
  const spec = (replicas: string, surge = '1', cpu = '1') =>
    `{"metadata":{"name":"web"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"strategy":{"rollingUpdate":{"maxSurge":${surge}}},` +
    `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":${cpu}}},"ports":[{"containerPort": 80}]}]}}}}`;
  const at = DEPLOYMENT.replace('/web', '?dryRun=All');
  const refused = async (body: string, what: string) =>
    expect((await cluster.request('POST', at.replace('web', 'other'), body)).json).toEqual(
      badRequest(
        `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number ${what}`,
      ),
    );
  await refused(spec('1.0'), '1.0 into Go struct field DeploymentSpec.spec.replicas of type int32');
  await refused(spec('1e1'), '1e1 into Go struct field DeploymentSpec.spec.replicas of type int32');
  await refused(spec('1E1'), '1E1 into Go struct field DeploymentSpec.spec.replicas of type int32');
  await refused(
    spec('1', '2.0'),
    '2.0 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
  );
  await refused(
    spec('1').replace('80', '8.0e1'),
    '8.0e1 into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32',
  );
  const taken = await cluster.request('PUT', DEPLOYMENT, spec('1', '1', '1.0'));
  expect(taken.code).toBe(200);
  expect((await cluster.request('PUT', DEPLOYMENT, spec('1.0'), YAML)).code).toBe(200);
});

test('the other version of a type is named, and so is the other name of events', async () => {
  const scaler = await cluster.request(
    'POST',
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v1', metadata: { name: 'x' } },
  );
  expect(scaler.json).toEqual(
    badRequest(
      'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
    ),
  );
  const event = await cluster.request('POST', '/apis/events.k8s.io/v1/namespaces/default/events', {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'x' },
  });
  expect(event.json).toEqual(
    badRequest('the API version in the data (v1) does not match the expected API version (events.k8s.io/v1)'),
  );
});

test('nothing is an empty object', async () => {
  for (const [body, headers] of [
    ['null', {}],
    ['', YAML],
    ['# nothing', YAML],
  ] as const) {
    const { json } = await cluster.request('POST', MAPS, body, headers);
    expect(json.message).toBe(
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    );
    expect(json.details.name).toBeUndefined();
  }
});

const patch = (
  path: string,
  body: unknown,
  headers: Record<string, string>,
  level = 'Warn',
): Promise<Answer> => cluster.request('PATCH', `${path}?fieldValidation=${level}`, body, headers);

const MAP = 'map[string]interface {}';

test.each<[string, Record<string, string>, string, string]>([
  ['', MERGE, 'Warn', 'error decoding patch: unexpected end of JSON input'],
  ['{"a":}', MERGE, 'Warn', "error decoding patch: invalid character '}' looking for beginning of value"],
  ['[]', MERGE, 'Strict', `error decoding patch: json: cannot unmarshal array into Go value of type ${MAP}`],
  ['{"a":}', MERGE, 'Ignore', 'Invalid JSON Patch'],
  ['5', MERGE, 'Ignore', 'Invalid JSON Patch'],
  ['null', MERGE, 'Warn', 'Invalid JSON Patch'],
  ['', STRATEGIC, 'Warn', 'unexpected end of JSON input'],
  ['x', STRATEGIC, 'Ignore', "invalid character 'x' looking for beginning of value"],
  ['[]', STRATEGIC, 'Warn', `json: cannot unmarshal array into Go value of type ${MAP}`],
  ['{"data":{"$retainKeys":5}}', STRATEGIC, 'Warn', 'invalid patch format of retainKeys'],
  ['', JSON_PATCH, 'Warn', 'error decoding patch: unexpected end of JSON input'],
  ['', JSON_PATCH, 'Ignore', 'unexpected end of JSON input'],
  [
    '{}',
    JSON_PATCH,
    'Warn',
    'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
  ],
  ['{}', JSON_PATCH, 'Ignore', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
  [
    '[1]',
    JSON_PATCH,
    'Warn',
    'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
  ],
  ['[1]', JSON_PATCH, 'Ignore', 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
  [
    '[{"op":"add","path":5}]',
    JSON_PATCH,
    'Warn',
    'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
  ],
])('a patch that cannot be read: %j as %j, %s', async (body, headers, level, message) => {
  const { code, json } = await patch(TARGET, body, headers, level);
  expect({ code, json }).toEqual({ code: 400, json: badRequest(message) });
});

test('patches of nothing change nothing', async () => {
  const before = await cluster.request('GET', TARGET);
  expect((await patch(TARGET, 'null', STRATEGIC)).json).toEqual(before.json);
  expect((await patch(TARGET, 'null', JSON_PATCH)).json).toEqual(before.json);
});

const invalidPatch = (shown: string, why: string) => {
  const message = `Invalid value: ${JSON.stringify(shown)}: ${why}`;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: ` "" is invalid: patch: ${message}`,
    reason: 'Invalid',
    details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
    code: 422,
  };
};

test.each<[object, string, string]>([
  [
    { metadata: { labels: 'invalid' } },
    'map[metadata:map[labels:invalid]]',
    'cannot restore map from string',
  ],
  [{ data: ['x', 1, null] }, 'map[data:[x 1 <nil>]]', 'cannot restore map from slice'],
  [{ metadata: 5 }, 'map[metadata:5]', 'cannot restore struct from: int64'],
  [{ data: { b: 5, a: '1' } }, 'map[data:map[a:1 b:5]]', 'cannot convert int64 to string'],
  [{ data: { a: true } }, 'map[data:map[a:true]]', 'unrecognized type: string'],
  [{ metadata: { finalizers: 'x' } }, 'map[metadata:map[finalizers:x]]', 'cannot restore slice from string'],
  [{ immutable: 'x' }, 'map[immutable:x]', 'unrecognized type: bool'],
  [{ kind: 5 }, 'map[kind:5]', 'cannot convert int64 to string'],
  [
    { binaryData: { a: '?' } },
    'map[binaryData:map[a:?]]',
    'error decoding from json: illegal base64 data at input byte 0',
  ],
])('a strategic merge patch whose result is no object: %j', async (body, shown, why) => {
  const { code, json } = await patch(TARGET, body, STRATEGIC);
  expect({ code, json }).toEqual({ code: 422, json: invalidPatch(shown, why) });
});

test('a strategic merge patch of texts and numbers inside a deployment', async () => {
  const container = (value: object) => ({
    spec: { template: { spec: { containers: [{ name: 'c', ...value }] } } },
  });
  for (const [body, why] of [
    [{ spec: { replicas: 'two' } }, 'unrecognized type: int32'],
    [{ spec: { replicas: 1.5 } }, 'cannot convert float64 to int32'],
    [container({ ports: 'x' }), 'cannot restore slice from string'],
    [
      container({ resources: { limits: { cpu: 'much' } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      { spec: { strategy: { rollingUpdate: { maxSurge: {} } } } },
      'json: cannot unmarshal object into Go value of type int32',
    ],
  ] as const) {
    const { code, json } = await patch(DEPLOYMENT, body, STRATEGIC);
    expect(code, json.message).toBe(422);
    expect(json.details.causes[0].message).toMatch(
      new RegExp(`: ${why.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`),
    );
  }
});

test('the kind that a strategic merge patch names is not looked at', async () => {
  const { code, json } = await patch(TARGET, { kind: 'Pod', apiVersion: 'v9' }, STRATEGIC);
  expect(code).toBe(200);
  expect(json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
});

interface Shown {
  readonly object: object;
  readonly text: string;
  readonly why: string;
}

/** The object that the one cause shows, and what it says of it. */
function shownBy({ code, json }: Answer): Shown {
  expect(code, json.message).toBe(422);
  const { causes } = json.details;
  expect(causes).toHaveLength(1);
  const [, quoted, why] = /^Invalid value: ("(?:[^"\\]|\\.)*"): (.*)$/s.exec(causes[0].message) ?? [];
  const text = JSON.parse(quoted ?? '""');
  expect(json).toEqual(invalidPatch(text, why ?? ''));
  return { object: JSON.parse(text), text, why: why ?? '' };
}

test('merge and JSON patches whose result is no object show it', async () => {
  const { json: target } = await cluster.request('GET', TARGET);
  const operation = { op: 'add', path: '/metadata/labels', value: 'invalid' };
  for (const answer of [
    await patch(TARGET, { metadata: { labels: 'invalid' } }, MERGE),
    await patch(TARGET, [operation], JSON_PATCH),
  ]) {
    const { object, text, why } = shownBy(answer);
    expect(why).toBe(
      'json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string',
    );
    expect(object).toEqual({ ...target, metadata: { ...target.metadata, labels: 'invalid' } });
    expect(text).toMatch(
      /^\{"apiVersion":"v1","data":\{"a":"\\u003cb\\u003e"\},"kind":"ConfigMap","metadata":\{"creat/,
    );
  }
  const noObject = {
    text: '[]',
    why: `${INTO_HEAD}json: cannot unmarshal array into Go value of type ${HEAD}`,
  };
  const list = await patch(TARGET, [{ op: 'replace', path: '', value: [] }], JSON_PATCH);
  expect(shownBy(list)).toMatchObject(noObject);
  expect(shownBy(await patch(TARGET, '[]', MERGE, 'Ignore'))).toMatchObject(noObject);
});

test('another kind or apiVersion by a merge patch is refused as a patch', async () => {
  const { json: target } = await cluster.request('GET', TARGET);
  const scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
  for (const [body, why] of [
    [{ kind: 'Pod' }, 'converting (v1.Pod) to (core.ConfigMap): unknown conversion'],
    [{ kind: 'Foo' }, `no kind "Foo" is registered for version "v1" ${scheme}`],
    [{ apiVersion: 'v9' }, `no kind "ConfigMap" is registered for version "v9" ${scheme}`],
    [{ kind: 5 }, `${INTO_HEAD}json: cannot unmarshal number into Go struct field .kind of type string`],
  ] as const) {
    const shown = shownBy(await patch(TARGET, body, MERGE));
    expect(shown).toMatchObject({ object: { ...target, ...body }, why });
  }
  const scalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'web' } };
  expect((await cluster.request('POST', scalers, { metadata: { name: 'h' }, spec })).code).toBe(201);
  const other = shownBy(await patch(`${scalers}/h`, { apiVersion: 'autoscaling/v1' }, MERGE));
  expect(other.why).toContain('does not match the expected API version (autoscaling/v2)');
});

test('a patch with unknown and repeated fields under Strict is invalid, for every kind of patch', async () => {
  const strict = async (body: unknown, headers: Record<string, string>) => {
    const { code, json } = await patch(`${TARGET}`, body, headers, 'Strict');
    expect(code).toBe(422);
    expect(json.details.causes).toHaveLength(1);
    expect(json.details.causes[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'patch' });
    return json.details.causes[0].message.replace(/^.*": strict/s, 'strict');
  };
  const twice = '{"dat":1,"data":{"a":"1","a":"2"}}';
  const both = 'strict decoding error: duplicate field "data.a", unknown field "dat"';
  expect(await strict(twice, MERGE)).toBe(both);
  expect(await strict(twice, STRATEGIC)).toBe(both);
  expect(await strict('[{"op":"add","path":"/x","path":"/dat","value":1,"foo":2}]', JSON_PATCH)).toBe(
    'strict decoding error: json patch unknown field "[0].foo", json patch duplicate field "[0].path", unknown field "dat"',
  );
  const warned = await patch(TARGET, [{ op: 'test', path: '/kind', value: 'ConfigMap', foo: 1 }], JSON_PATCH);
  expect(warned.code).toBe(200);
  expect(String(warned.headers.warning)).toContain('json patch unknown field');
});

test('a patch that does not fit is refused in one sentence, without an end', async () => {
  const generic = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the server rejected our request due to an error in our request',
    reason: 'Invalid',
    details: {},
    code: 422,
  };
  for (const operation of [
    { op: 'test', path: '/data/a', value: 'other' },
    { op: 'remove', path: '/data/none' },
    { op: 'jump', path: '/data' },
    { op: 'copy', path: '/data' },
  ])
    expect((await patch(TARGET, [operation], JSON_PATCH)).json).toEqual(generic);
  const { json } = await patch(
    DEPLOYMENT,
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: {} } } },
    STRATEGIC,
  );
  expect(json).toEqual(generic);
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }));
  const tooMany = await patch(TARGET, many, JSON_PATCH);
  expect(tooMany.json).toMatchObject({
    code: 413,
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  });
});

const failure = (message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  code: 500,
});

test('a strategic merge patch that does not fit its type is answered with the error alone', async () => {
  const containers = (list: unknown) => ({ spec: { template: { spec: { containers: list } } } });
  for (const [body, message] of [
    [containers([{ image: 'x' }]), 'map: map[image:x] does not contain declared merge key: name'],
    [containers(['x']), 'expected a map[string]interface {}, but received a string'],
    [{ spec: { $patch: 'jump', paused: true } }, 'unknown patch type: jump in map: map[paused:true]'],
  ] as const)
    expect((await patch(DEPLOYMENT, body, STRATEGIC)).json).toEqual(failure(message));
});

const apply = (path: string, body: unknown, more = ''): Promise<Answer> =>
  cluster.request('PATCH', `${path}?fieldManager=m${more}`, body, APPLY);

test('what an apply has beyond its type, and what it says it is', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
  };
  const at = `${MAPS}/applied`;
  expect((await apply(at, { ...map, dat: 1 })).json).toEqual(
    failure(
      'failed to create typed patch object (/applied; /v1, Kind=ConfigMap): .dat: field not declared in schema',
    ),
  );
  const containers = [{ name: 'c', imagee: 'x' }];
  expect(
    (await apply(DEPLOYMENT, { ...deployment, spec: { template: { spec: { containers } } } })).json,
  ).toEqual(
    failure(
      'failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="c"].imagee: field not declared in schema',
    ),
  );
  expect((await apply(at, { ...map, dat: 1, data: { a: 5 } })).json).toEqual(
    failure(
      'failed to create typed patch object (/applied; /v1, Kind=ConfigMap): errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:5}\n  .dat: field not declared in schema',
    ),
  );
  const limits = { limits: { cpu: 'much' } };
  const much = [{ name: 'c', resources: limits }];
  expect(
    (await apply(DEPLOYMENT, { ...deployment, spec: { template: { spec: { containers: much } } } })).json,
  ).toEqual(
    failure(
      "failed to convert new object (default/web; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, Kind=Deployment: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
  );
  for (const [body, message] of [
    [{ ...map, kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
    ['', 'invalid object type: /, Kind='],
    [
      'a: b: c',
      'error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context',
    ],
    [
      '[]',
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type ${MAP}`,
    ],
  ] as const)
    expect((await apply(at, body)).json).toEqual(badRequest(message));
});

test('another uid is a conflict where an object is replaced, and invalid where one is changed', async () => {
  const { json: target } = await cluster.request('GET', TARGET);
  const other = { ...target, metadata: { ...target.metadata, uid: 'other' } };
  const replaced = await cluster.request('PUT', TARGET, other);
  expect(replaced).toMatchObject({ code: 409, json: { reason: 'Conflict' } });
  expect(replaced.json.message).toContain(
    'Precondition failed: UID in precondition: other, UID in object meta',
  );
  const message = 'Invalid value: "other": field is immutable';
  const invalid = {
    code: 422,
    json: {
      reason: 'Invalid',
      message: `ConfigMap "target" is invalid: metadata.uid: ${message}`,
      details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }] },
    },
  };
  const change = { metadata: { uid: 'other' } };
  expect(await patch(TARGET, change, MERGE)).toMatchObject(invalid);
  expect(await patch(TARGET, change, STRATEGIC)).toMatchObject(invalid);
  const operation = { op: 'replace', path: '/metadata/uid', value: 'other' };
  expect(await patch(TARGET, [operation], JSON_PATCH)).toMatchObject(invalid);
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'target', uid: 'other' } };
  expect(await apply(TARGET, config)).toMatchObject(invalid);
  expect(await patch(`${DEPLOYMENT}/status`, change, MERGE)).toMatchObject({
    code: 422,
    json: { details: { causes: [{ message, field: 'metadata.uid' }] } },
  });
  expect(await patch(`${DEPLOYMENT}/scale`, change, MERGE)).toMatchObject({ code: 409 });
  const without = await patch(TARGET, { metadata: { uid: null } }, MERGE);
  expect(without).toMatchObject({ code: 200, json: { metadata: { uid: target.metadata.uid } } });
  const emptied = await patch(TARGET, { metadata: { uid: '' } }, MERGE);
  expect(emptied).toMatchObject({ code: 200, json: { metadata: { uid: target.metadata.uid } } });
  const absent = await apply(`${MAPS}/absent`, { ...config, metadata: { name: 'absent', uid: 'other' } });
  expect(absent).toMatchObject({ code: 409 });
  expect(absent.json.message).toContain(
    'uid mismatch: the provided object specified uid other, and no existing object was found',
  );
});

test('options of a delete that cannot be read delete nothing', async () => {
  for (const [body, headers, message] of [
    ['x', {}, `${INTO_HEAD}invalid character 'x' looking for beginning of value`],
    ['[]', {}, `${INTO_HEAD}json: cannot unmarshal array into Go value of type ${HEAD}`],
    ['a: b: c', YAML, 'yaml: mapping values are not allowed in this context'],
    [envelope('DeleteOptions', '0aff'), PROTOBUF, 'unexpected EOF'],
  ] as const)
    expect((await cluster.request('DELETE', TARGET, body, headers)).json).toEqual(badRequest(message));
  expect((await cluster.request('GET', TARGET)).code).toBe(200);
});

test('a patch or an option may not write an integer as a fraction; YAML and strategic patches may', async () => {
  const why = (field: string, type: string, number = '3.0'): string =>
    `json: cannot unmarshal number ${number} into Go struct field ${field} of type ${type}`;
  const spec = why('DeploymentSpec.spec.replicas', 'int32');
  const merged = await cluster.request('PATCH', DEPLOYMENT, '{"spec":{"replicas":3.0}}', MERGE);
  expect(merged.code).toBe(422);
  expect(merged.text).toContain(spec);
  expect(merged.text).toContain('replicas\\\\\\":3.0');
  const operations = '[{"op":"replace","path":"/spec/replicas","value":3.0}]';
  const operated = await cluster.request('PATCH', DEPLOYMENT, operations, JSON_PATCH);
  expect(operated.code).toBe(422);
  expect(operated.text).toContain(spec);
  const deleted = await cluster.request('DELETE', DEPLOYMENT, '{"gracePeriodSeconds":3.0}');
  expect(deleted.code).toBe(400);
  expect(deleted.text).toContain(why('DeleteOptions.gracePeriodSeconds', 'int64'));
  const strategic = await cluster.request('PATCH', DEPLOYMENT, '{"spec":{"replicas":3.0}}', STRATEGIC);
  expect(strategic.json).toMatchObject({ spec: { replicas: 3 } });
  const read = await cluster.request('GET', DEPLOYMENT, undefined, { accept: 'application/yaml' });
  const replaced = await cluster.request(
    'PUT',
    DEPLOYMENT,
    read.text.replace('replicas: 3', 'replicas: 4.0'),
    YAML,
  );
  expect(replaced.json).toMatchObject({ spec: { replicas: 4 } });
});
