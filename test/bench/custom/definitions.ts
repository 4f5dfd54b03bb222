/** Definitions as projects have them, generated: sizes, depths and words of real ones. */

export interface Definition {
  readonly name: string;
  /** Without the namespace. */
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly json: string;
}

interface Outline {
  readonly group: string;
  readonly kind: string;
  readonly schema: object;
}

function toDefinition({ group, kind, schema }: Outline): Definition {
  const plural = `${kind.toLowerCase()}s`;
  const name = `${plural}.${group}`;
  const version = {
    ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
    schema: { openAPIV3Schema: schema },
    additionalPrinterColumns: [{ name: 'Ready', type: 'string', jsonPath: '.status.ready' }],
  };
  const spec = { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] };
  const body = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' };
  return { name, group, plural, kind, json: JSON.stringify({ ...body, metadata: { name }, spec }) };
}

export const collectionOf = ({ group, plural }: Definition, namespace: string): string =>
  `/apis/${group}/v1/namespaces/${namespace}/${plural}`;

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const WORDS =
  'Specifies what the controller does with this part of the desired state, and which values it takes by default. ';

/** A schema of about so many bytes: objects of ten fields, nested as needed, with bounds and descriptions. */
function schemaOf(sizeBytes: number): object {
  let left = sizeBytes;
  const leaf = (at: number): object => {
    left -= 260;
    const description = `${WORDS}Field ${at}. `.repeat(1 + (at % 2));
    switch (at % 4) {
      case 0:
        return { type: 'string', description, maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' };
      case 1:
        return { type: 'integer', description, format: 'int32', minimum: 0, maximum: 65535 };
      case 2:
        return { type: 'array', description, items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
      default:
        return { type: 'object', description, additionalProperties: { type: 'string' } };
    }
  };
  const branch = (depth: number): object => {
    left -= 160;
    const properties: Record<string, object> = {};
    for (let at = 0; at < 10 && left > 0; at += 1) {
      properties[`field${at}`] = depth > 0 && at % 2 === 0 ? branch(depth - 1) : leaf(at);
    }
    return { type: 'object', description: WORDS, properties };
  };
  const parts: Record<string, object> = {};
  for (let at = 0; left > 0; at += 1) parts[`part${at}`] = branch(3);
  return {
    type: 'object',
    description: WORDS,
    required: ['spec'],
    properties: {
      spec: { type: 'object', properties: parts },
      status: { type: 'object', properties: { ready: { type: 'string' } } },
    },
  };
}

const SMALLEST_BYTES = 20_000;
const GROUP_SIZE = 10;

/** One of a thousand: ten in each group, from 20 to 200 kB, the small ones more often. */
export function realDefinition(at: number): Definition {
  const share = ((at * 37) % 100) / 99;
  const schema = schemaOf(SMALLEST_BYTES * 10 ** share);
  return toDefinition({ group: `g${Math.floor(at / GROUP_SIZE)}.example.com`, kind: `Real${at}`, schema });
}

/** Objects like a config map's. */
export const noteDefinition = (): Definition =>
  toDefinition({
    group: 'bench.example.com',
    kind: 'Note',
    schema: {
      type: 'object',
      properties: {
        data: { type: 'object', additionalProperties: { type: 'string' } },
        binaryData: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        immutable: { type: 'boolean' },
      },
    },
  });

/** A small one of its own. */
export const freshDefinition = (at: number): Definition =>
  toDefinition({ group: 'fresh.example.com', kind: `Fresh${at}`, schema: schemaOf(5000) });

const RULES = 200;

/** 500 kB, and 200 rules that each look at a field of their own. */
export function ruledDefinition(): Definition {
  const fields = Array.from({ length: RULES }, (_, at): [string, object] => [
    `rule${at}`,
    {
      type: 'string',
      maxLength: 64,
      'x-kubernetes-validations': [
        { rule: "self.size() < 60 && (self.startsWith('a') || self != '')", message: `rule ${at}` },
      ],
    },
  ]);
  const rest = schemaOf(460_000) as { readonly properties: object };
  const ruled = { type: 'object', properties: Object.fromEntries(fields) };
  return toDefinition({
    group: 'bench.example.com',
    kind: 'Ruled',
    schema: { ...rest, properties: { ...rest.properties, ruled } },
  });
}

/** An object that all rules look at. */
export const ruledObject = (name: string): object => ({
  kind: 'Ruled',
  apiVersion: 'bench.example.com/v1',
  metadata: { name },
  spec: {},
  ruled: Object.fromEntries(Array.from({ length: RULES }, (_, at) => [`rule${at}`, `a value of ${at}`])),
});
