import type { Minor } from '../api/emulation.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { CBOR, negotiate, notAcceptable, parseClauses, wantsPretty } from '../codec/negotiate.ts';
import { encodeValue } from '../codec/wire-formats.ts';
import { toTimestamp } from '../object/timestamps.ts';
import { createPages, type Pages, plainText } from '../pages/pages.ts';
import type { ApiRequest } from '../request/api-request.ts';

/** A page for people, and for programs since a version of Kubernetes (apiserver, server/flagz and server/statusz). */
interface ZPage {
  /** `flagz` */
  readonly name: string;
  readonly kind: string;
  /** What programs read, besides kind and metadata. */
  content(): JsonObject;
  text(): string;
}

const COMPONENT = 'apiserver';
const GROUP = 'config.k8s.io';

/** /flagz: the flags of the server, with those that were not given. */
export const flagsPage = (flags: Readonly<Record<string, string>>): ZPage => ({
  name: 'flagz',
  kind: 'Flagz',
  content: () => ({ flags: { ...flags } }),
  text: () =>
    Object.keys(flags)
      .sort()
      .map((name) => `${name}=${flags[name]}\n`)
      .join(''),
});

interface ServerState {
  readonly startedAt: Date;
  readonly runtime: string;
  readonly binaryVersion: string;
  readonly emulated: string;
  /** Pages for the examination of the server. */
  readonly paths: readonly string[];
  readonly now: () => Date;
}

/** /statusz: how long the server has been running, and as what. */
export function statusPage({ startedAt, now, ...state }: ServerState): ZPage {
  const seconds = (): number => Math.max(0, Math.floor((now().getTime() - startedAt.getTime()) / 1000));
  const paths = [...state.paths].sort();
  return {
    name: 'statusz',
    kind: 'Statusz',
    content: () => ({
      startTime: toTimestamp(startedAt),
      uptimeSeconds: seconds(),
      goVersion: state.runtime,
      binaryVersion: state.binaryVersion,
      emulationVersion: state.emulated,
      paths,
    }),
    text: () =>
      [
        `Started: ${startedAt.toUTCString()}`,
        `Up: ${uptime(seconds())}`,
        `Go version: ${state.runtime}`,
        `Binary version: ${state.binaryVersion}`,
        `Emulation version: ${state.emulated}`,
        `Paths: ${paths.join(' ')}`,
        '',
      ].join('\n'),
  };
}

function uptime(seconds: number): string {
  const two = (count: number): string => String(count % 60).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60))} min ${two(seconds)} sec`;
}

/** The versions in which programs can read the pages. */
const versionsIn = (minor: Minor): readonly string[] =>
  minor >= 36 ? ['v1beta1', 'v1alpha1'] : minor === 35 ? ['v1alpha1'] : [];

interface ZPageOptions {
  readonly minor: Minor;
  /** The feature CBORServingAndStorage. */
  readonly cbor: boolean;
}

export function createZPage(page: ZPage, { minor, cbor }: ZPageOptions): Pages {
  const served = { versions: versionsIn(minor), types: cbor ? [...STRUCTURED, CBOR] : STRUCTURED };
  return createPages().get(`/${page.name}`, ({ env }) => answer(page, served, env.request));
}

interface Served {
  readonly versions: readonly string[];
  readonly types: readonly string[];
}

function answer(page: ZPage, { versions, types }: Served, request: ApiRequest): Response {
  const accept = request.headers.accept?.trim() ?? '';
  for (const { type, parameters } of parseClauses(accept === '' ? TEXT : accept)) {
    if (isText(type) && parameters.get('as') === undefined) return textOf(page);
    const version = parameters.get('v') ?? '';
    const isKnown = parameters.get('as') === page.kind && parameters.get('g') === GROUP;
    if (isKnown && versions.includes(version) && types.includes(type))
      return structured(page, { version, type, isDeprecated: version !== versions[0] }, request);
  }
  const others = types.filter((type) => !STRUCTURED.includes(type));
  throw notAcceptable(versions.length === 0 ? [TEXT] : [...STRUCTURED, TEXT, ...others]);
}

const TEXT = 'text/plain';
const STRUCTURED: readonly string[] = ['application/json', 'application/yaml'];

const isText = (type: string): boolean => type === TEXT || type === 'text/*' || type === '*/*';

const textOf = ({ name, text }: ZPage): Response =>
  plainText(
    200,
    `\n${COMPONENT} ${name}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n\n${text()}`,
  );

interface Form {
  readonly version: string;
  readonly type: string;
  readonly isDeprecated: boolean;
}

function structured(
  { name, kind, content }: ZPage,
  { version, type, isDeprecated }: Form,
  { query, userAgent }: ApiRequest,
): Response {
  const pretty = wantsPretty(query, userAgent);
  const document = {
    ...{ kind, apiVersion: `${GROUP}/${version}`, metadata: { name: COMPONENT } },
    ...content(),
  };
  const representation = negotiate(type, { pretty, protobuf: false, cbor: type === CBOR });
  return new Response(encodeValue(document, representation, undefined), {
    headers: {
      'content-type': `${type};g=${GROUP};v=${version};as=${kind}`,
      ...(isDeprecated
        ? {
            warning: `299 - "This version of the ${name} endpoint is deprecated. Please use a newer version."`,
          }
        : {}),
    },
  });
}
