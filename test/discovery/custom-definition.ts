import type { JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import type { OpenApi } from '../../src/discovery/openapi.ts';
import { CUSTOM_TYPE, type CustomVersion } from '../../src/registry/custom.ts';
import type { ResourceDefinition, ViewSubresource } from '../../src/registry/resource-definition.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

type DocumentInPieces = Awaited<ReturnType<OpenApi['whole']>>;

interface CustomOptions {
  readonly group?: string;
  readonly version?: string;
  readonly storageVersion?: string;
  readonly kind?: string;
  readonly schema?: JSONSchemaProps | (() => JSONSchemaProps | undefined);
  readonly digest?: string;
  readonly isEnding?: boolean;
  readonly deprecation?: string;
  readonly namespaced?: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly selectable?: readonly string[];
  readonly subresources?: readonly ('status' | 'scale')[];
}

const [SOME] = BUILT_IN_RESOURCES;

const notAsked = (): never => {
  throw new Error('publication asks for nothing but the schema');
};

/** A version of a custom resource, as publication sees it. */
export function customDefinition(options: CustomOptions = {}): ResourceDefinition {
  const { group = 'stable.example.com', version = 'v1', kind = 'Cron', schema = {}, digest = '1' } = options;
  if (SOME === undefined) throw new Error('there are no built-in resources');
  const resource = `${kind.toLowerCase()}s`;
  const { storageVersion = version, subresources = [], selectable = [] } = options;
  const custom: CustomVersion = {
    definitionName: `${resource}.${group}`,
    digest,
    deprecation: options.deprecation,
    storedVersion: storageVersion,
    isEnding: options.isEnding ?? false,
    schema: typeof schema === 'function' ? schema : () => schema,
    message: notAsked,
    decode: notAsked,
    validate: notAsked,
    validateStatus: notAsked,
    from: notAsked,
    fromAll: notAsked,
    readBack: notAsked,
    through: notAsked,
  };
  return {
    ...{ group, resource, kind, custom },
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    namespaced: options.namespaced ?? true,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    versions: [{ version, type: CUSTOM_TYPE, enabledByDefault: true }],
    storage: { group, resource, version, type: CUSTOM_TYPE },
    subresources: subresources.map((name) => subresource(name, { group, version, kind })),
    columns: [],
    cells: () => [],
    fields: { names: selectable, read: () => ({}), aliases: {} },
    strategy: SOME.strategy,
  };
}

function subresource(
  name: 'status' | 'scale',
  own: { group: string; version: string; kind: string },
): ViewSubresource {
  const isScale = name === 'scale';
  return {
    name,
    access: 'view',
    served: isScale ? { group: 'autoscaling', version: 'v1', kind: 'Scale' } : own,
    type: isScale ? 'autoscaling/v1.Scale' : CUSTOM_TYPE,
    verbs: ['get', 'patch', 'update'],
    read: notAsked,
    write: notAsked,
  };
}

export function gather({ pieces }: DocumentInPieces): Buffer {
  return Buffer.concat([...pieces()].map((piece) => Buffer.from(piece)));
}
