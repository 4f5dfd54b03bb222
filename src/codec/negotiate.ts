import type { Dialect } from '../api/dialect.ts';
import { StatusError } from '../api/status.ts';
import { table } from '../util/text-table.ts';

/** 'cbor' only where the feature CBORServingAndStorage is on. */
export type Format = 'json' | 'yaml' | 'protobuf' | 'cbor';

/** The form of a response: the first one in Accept that the server has (Kubernetes: endpoints/handlers/negotiation). */
export interface Representation {
  readonly format: Format;
  /** kubectl asks for `table`, metadata clients for `partial`, instead of whole objects. */
  readonly as: 'object' | 'table' | 'partial';
  /** The dialect of meta.*, from the group of the requested kind. */
  readonly dialect: Dialect | undefined;
  /** Version of the table or partial kind. */
  readonly version: 'v1' | 'v1beta1';
  readonly pretty: boolean;
  readonly contentType: string;
}

const PROTOBUF: Readonly<Record<string, string>> = table({
  'application/vnd.kubernetes.protobuf': 'application/vnd.kubernetes.protobuf',
  'application/vnd.cluster.protobuf': 'application/vnd.cluster.protobuf',
});
const TEXTS = ['application/json', 'application/yaml'];
export const CBOR = 'application/cbor';
/** Watches are sequences (RFC 8742). */
export const CBOR_SEQUENCE = 'application/cbor-seq';
const ACCEPTED = [...TEXTS, ...Object.keys(PROTOBUF)];

/** Clients repeat a handful of headers, and parsing one costs as much as serving a small object. */
const MAX_REMEMBERED = 500;
const remembered = new Map<string, readonly Representation[]>();

interface NegotiateOptions {
  readonly pretty: boolean;
  readonly protobuf: boolean | 'metadata';
  readonly tables?: boolean;
  readonly cbor?: boolean | undefined;
}

/**
 * `protobuf: false` for documents without a protobuf form, 'metadata' for those whose metadata alone has one, `tables: false`
 * for those without a table: the client's next choice is taken.
 * @throws StatusError 406
 */
export function negotiate(
  accept: string | undefined,
  { pretty, protobuf, tables = true, cbor = false }: NegotiateOptions,
): Representation {
  const header = accept ?? '*/*';
  let candidates = remembered.get(header);
  if (candidates === undefined) {
    candidates = parseAccept(header);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(header, candidates);
  }
  const first = candidates.find(
    ({ format, as }) =>
      (format !== 'protobuf' || protobuf === true || (protobuf === 'metadata' && as === 'partial')) &&
      (cbor || format !== 'cbor') &&
      (tables || as !== 'table'),
  );
  if (first === undefined) throw notAcceptable(cbor ? [...ACCEPTED, CBOR] : ACCEPTED);
  return pretty && !first.pretty ? { ...first, pretty: true } : first;
}

export function notAcceptable(types: readonly string[] = ACCEPTED): StatusError {
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${types.join(', ')}`,
  });
}

/** YAML is no format of watches (NegotiateOutputMediaTypeStream). @throws StatusError 406 */
export function assertStreams({ format }: Representation, cbor = false): void {
  if (format !== 'yaml') return;
  const types = ['application/json', 'application/vnd.kubernetes.protobuf', ...(cbor ? [CBOR] : [])];
  throw notAcceptable(types.map((type) => `${type};stream=watch`));
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const parseAccept = (header: string): Representation[] =>
  parseClauses(header)
    .map(toRepresentation)
    .filter((representation) => representation !== undefined);

/** The media types of an Accept header, the client's favourite first. */
export const parseClauses = (header: string): Clause[] =>
  header
    .split(',')
    .map(parseClause)
    .filter(({ quality }) => quality !== 0)
    .sort((a, b) => b.quality - a.quality);

function parseClause(text: string): Clause {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1).replace(/^"|"$/g, '')];
    }),
  );
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
}

function toRepresentation({ type, parameters }: Clause): Representation | undefined {
  const format = toFormat(type);
  if (format === undefined) return undefined;
  const base = {
    format,
    version: 'v1',
    pretty: parameters.get('pretty') === '1',
    contentType: PROTOBUF[type] ?? `application/${format}`,
  } as const;
  const kind = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  // Streams are watches, and meta.* has one version of the server's.
  if (!['', 'watch'].includes(parameters.get('stream') ?? '')) return undefined;
  if (!['', 'v1'].includes(parameters.get('sv') ?? '')) return undefined;
  if (kind === undefined && group === undefined && version === undefined)
    return { ...base, as: 'object', dialect: undefined };
  // A Table has no protobuf form: its cells are of any type.
  if (format === 'protobuf' && kind === 'Table') return undefined;
  const as =
    kind === 'Table' ? 'table' : /^PartialObjectMetadata(List)?$/.test(kind ?? '') ? 'partial' : undefined;
  const dialect = group === 'meta.k8s.io' ? 'k8s.io' : group === 'meta.cluster.io' ? 'cluster.io' : undefined;
  if (as === undefined || dialect === undefined || (version !== 'v1' && version !== 'v1beta1'))
    return undefined;
  return { ...base, as, dialect, version };
}

function toFormat(type: string): Format | undefined {
  if (PROTOBUF[type] !== undefined) return 'protobuf';
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
    case '':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    case CBOR:
    case CBOR_SEQUENCE:
      return 'cbor';
    default:
      return undefined;
  }
}

/** `pretty` in the query decides; without it, curl, wget and browsers get line breaks, as in Kubernetes. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked !== null) return asked !== '0' && asked.toLowerCase() !== 'false';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

/** The format of a body, from its Content-Type. `protobuf: false` for types without a protobuf form. @throws StatusError 415 */
export function bodyFormat(
  contentType: string | undefined,
  { protobuf = true, cbor = false }: { protobuf?: boolean; cbor?: boolean | undefined } = {},
): Format {
  const [type = ''] = (contentType ?? '').split(';', 1);
  switch (type.trim().toLowerCase()) {
    case '':
    case 'application/json':
      return 'json';
    case 'application/yaml':
    case 'application/x-yaml':
      return 'yaml';
    case 'application/vnd.kubernetes.protobuf':
    case 'application/vnd.cluster.protobuf':
      if (protobuf) return 'protobuf';
      break;
    case CBOR:
      if (cbor) return 'cbor';
      break;
    default:
  }
  throw unsupportedMediaType([...(protobuf ? ACCEPTED : TEXTS), ...(cbor ? [CBOR] : [])]);
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}
