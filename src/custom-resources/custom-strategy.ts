import { type Gates, minorOf } from '../api/feature-gates.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { CUSTOM_TYPE } from '../registry/custom.ts';
import type { ViewSubresource } from '../registry/resource-definition.ts';
import { writeStatus } from '../registry/status-view.ts';
import type { Strategy } from '../registry/strategy.ts';

/** The strategy of every custom resource (apiextensions-apiserver, registry/customresource/strategy.go). */
export function strategyOf({ hasStatus }: { readonly hasStatus: boolean }): Strategy {
  return {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    statusCountsForGeneration: !hasStatus,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    warnings: warnOfFinalizers,
    ...(hasStatus ? STATUS_APART : {}),
  };
}

/** With a status subresource, writes of the object ignore the status. */
const STATUS_APART: Pick<Strategy, 'resetFields' | 'prepareForCreate' | 'prepareForUpdate'> = {
  resetFields: [['status']],
  prepareForCreate: (object) => {
    delete object.status;
  },
  prepareForUpdate: (object, old) => {
    if (old.status === undefined) delete object.status;
    else object.status = old.status;
  },
};

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function warnOfFinalizers({ metadata }: ApiObject, old: ApiObject | undefined, isOn?: Gates): string[] {
  const before = old?.metadata.finalizers ?? [];
  // Since 1.32 the warning about a name with a domain asks for a path.
  const advice = (one: string): string =>
    one.includes('.') && minorOf(isOn) >= 32 ? ' including a path (/)' : '';
  return (metadata.finalizers ?? [])
    .filter((one) => !one.includes('/') && !STANDARD_FINALIZERS.has(one) && !before.includes(one))
    .map(
      (one) =>
        `metadata.finalizers: ${JSON.stringify(one)}: prefer a domain-qualified finalizer name${advice(one)} to avoid ` +
        'accidental conflicts with other finalizer writers',
    );
}

/** A view that changes only the status. `fields`: the root fields of objects; called on demand. */
export function statusView(
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  fields: () => readonly string[],
): ViewSubresource {
  let resets: readonly (readonly string[])[] | undefined;
  const resetFields = (): readonly (readonly string[])[] => {
    const others = (): string[] => fields().filter((name) => !ALWAYS.has(name));
    // The schema need not name the spec.
    resets ??= ['metadata', ...new Set(['spec', ...others()])].map((name) => [name]);
    return resets;
  };
  return {
    access: 'view',
    name: 'status',
    served: { group, version, kind },
    type: CUSTOM_TYPE,
    verbs: ['get', 'patch', 'update'],
    read: (parent) => parent,
    get resetFields() {
      return resetFields();
    },
    write: (view, old) => writeStatus(view, old, ALL_METADATA),
  };
}

const ALL_METADATA = [['metadata']] as const;
const ALWAYS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);
