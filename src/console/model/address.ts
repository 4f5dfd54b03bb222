/**
 * The address behind `#` holds the whole view, so that a link shows others the same:
 * `#/object/deployments.apps/shop/web?tab=diff&at=2026-01-31T12:00:00Z`.
 */
export type Address = ListAddress | ObjectAddress | ChangesAddress;

interface Common {
  readonly params: Params;
}

/** `resource` is the plural with its group: `pods`, `deployments.apps`. '': the first kind. */
export interface ListAddress extends Common {
  readonly page: 'list';
  readonly resource: string;
}

export interface ObjectAddress extends Common {
  readonly page: 'object';
  readonly resource: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface ChangesAddress extends Common {
  readonly page: 'changes';
}

/** The address omits absent parameters. */
export type Params = Readonly<Partial<Record<ParamName, string>>>;

const PARAMS = [
  ...(['at', 'ns', 'q', 'sort', 'wide'] as const),
  ...(['tab', 'from', 'to', 'layout', 'pick', 'blame', 'managed'] as const),
  ...(['kind', 'who', 'verb', 'name', 'rev'] as const),
] as const;

type ParamName = (typeof PARAMS)[number];

/** Parameters that stay when the page changes. */
const LASTING: readonly ParamName[] = ['at', 'ns'];

const NO_NAMESPACE = '-';

export function parseAddress(hash: string): Address {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#/, ''), '?');
  const [page = '', ...parts] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const params = readParams(new URLSearchParams(query));
  const [resource = '', namespace = '', name = ''] = parts;
  if (page === 'changes') return { page, params };
  if (page !== 'object' || name === '')
    return { page: 'list', resource: page === 'list' ? resource : '', params };
  return { page, resource, namespace: namespace === NO_NAMESPACE ? '' : namespace, name, params };
}

export function formatAddress(address: Address): string {
  const query = new URLSearchParams();
  for (const name of PARAMS) {
    const value = address.params[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  const asked = query.toString();
  return `#/${pathOf(address)}${asked === '' ? '' : `?${asked}`}`;
}

function pathOf(address: Address): string {
  switch (address.page) {
    case 'changes':
      return 'changes';
    case 'list':
      return `list/${encodeURIComponent(address.resource)}`;
    case 'object': {
      const { resource, namespace, name } = address;
      return ['object', resource, namespace === '' ? NO_NAMESPACE : namespace, name]
        .map(encodeURIComponent)
        .join('/');
    }
  }
}

export const lasting = (params: Params): Params =>
  Object.fromEntries(LASTING.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));

function readParams(query: URLSearchParams): Params {
  return Object.fromEntries(
    PARAMS.flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value]];
    }),
  );
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Decodes a part of a link; keeps a malformed one as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
