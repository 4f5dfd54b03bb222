import type { MessageSchema, ValueSchema } from '../api/schema.ts';
import { goScalar, shortName } from './go-names.ts';

/**
 * Integers that are written with a point or an exponent, `1.0` and `1e3`. Go takes none of them for an integer, and once a
 * document has been parsed they cannot be told from others.
 */
class WrittenNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** For text that can be parsed. */
export const parseFractions = (text: string): unknown => JSON.parse(text, keepWritten);

function keepWritten(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return Number.isInteger(value) && /[.eE]/.test(source) ? new WrittenNumber(source) : value;
}

/** What Go says of the first such number where its type wants an integer. Undefined when there is none. */
export function fractionError(document: unknown, schema: MessageSchema): string | undefined {
  return ofMessage(document, { schema, path: [] });
}

/** The message that a value is in, and the fields that lead to it. */
interface Place {
  readonly schema: MessageSchema;
  readonly path: readonly string[];
}

function ofMessage(value: unknown, { schema, path }: Place): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const field = schema.fields.get(name);
    const error = field && ofValue(item, field.value, { schema, path: [...path, name] });
    if (error !== undefined) return error;
  }
  return undefined;
}

function ofValue(value: unknown, type: ValueSchema, place: Place): string | undefined {
  switch (type.kind) {
    case 'message':
      return ofMessage(value, { ...place, schema: type.message });
    case 'list':
    case 'map': {
      const inner = type.kind === 'list' ? type.items : type.values;
      for (const item of Object.values(value ?? {})) {
        const error = ofValue(item, inner, place);
        if (error !== undefined) return error;
      }
      return undefined;
    }
    case 'int32':
    case 'int64':
    case 'IntOrString':
      if (!(value instanceof WrittenNumber)) return undefined;
      return toError(value.source, type.kind === 'IntOrString' ? 'int32' : goScalar(type.kind), place);
    default:
      return undefined;
  }
}

const toError = (source: string, type: string, { schema, path }: Place): string =>
  `json: cannot unmarshal number ${source} into Go struct field ${shortName(schema)}.${path.join('.')} of type ${type}`;
