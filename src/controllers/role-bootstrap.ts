import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import { bootstrapPolicy, type Gates } from '../authz/rbac/bootstrap/policy.ts';
import { type Reconciliation, reconcileBinding, reconcileRole } from '../authz/rbac/bootstrap/reconcile.ts';
import { RBAC_GROUP } from '../authz/rbac/policy.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Registry } from '../registry/registry.ts';
import type { Freshness, Store } from '../storage/store.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { DELETE_NOW } from './delete-now.ts';
import { ControllerIdentity } from './identity.ts';

interface RoleBootstrapOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly isOn: Gates;
}

type Reconcile = (existing: ApiObject | undefined, expected: ApiObject) => Reconciliation;

/**
 * Creates the roles and bindings that every Kubernetes cluster has, and restores their default rights. All at once, so that the
 * writes share a few batches.
 */
export async function bootstrapRoles(options: RoleBootstrapOptions): Promise<void> {
  const policy = bootstrapPolicy(options.isOn);
  const kinds: [string, readonly ApiObject[], Reconcile][] = [
    ['clusterroles', policy.clusterRoles, reconcileRole],
    ['clusterrolebindings', policy.clusterRoleBindings, reconcileBinding],
    ['roles', policy.roles, reconcileRole],
    ['rolebindings', policy.roleBindings, reconcileBinding],
  ];
  const identity = new ControllerIdentity('rbac-bootstrap');
  await Promise.all(
    kinds.flatMap(([resource, objects, reconcile]) => {
      const definition = options.registry.findStorage({ group: RBAC_GROUP, resource });
      if (definition === undefined) return [];
      return objects.map((expected) => ensure({ ...options, identity, definition, reconcile }, expected));
    }),
  );
}

interface Ensuring extends RoleBootstrapOptions {
  readonly identity: ControllerIdentity;
  readonly definition: ResourceDefinition;
  readonly reconcile: Reconcile;
}

/** Another server may do the same at the same time; the second one finds it done. */
async function ensure(options: Ensuring, expected: ApiObject): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ensureOnce(options, expected, attempt === 1 ? { kind: 'any' } : { kind: 'latest' });
    } catch (error) {
      const raced = error instanceof StatusError && (error.status.code === 409 || error.status.code === 404);
      if (!raced || attempt > ATTEMPTS) throw error;
    }
  }
}

const ATTEMPTS = 5;

async function ensureOnce(options: Ensuring, expected: ApiObject, freshness: Freshness): Promise<void> {
  const { store, writer, identity, definition, reconcile } = options;
  const { name = '', namespace = '' } = expected.metadata;
  const context = identity.context(definition, namespace);
  const entry = await store.get({ ...definition.storage, namespace, name }, freshness);
  const existing = entry === undefined ? undefined : parseStored(entry.json);
  const { kind, ...wanted } = reconcile(existing, expected);
  const object = 'object' in wanted ? wanted.object : expected;
  if (kind === 'update') await writer.update(context, name, { apply: () => structuredClone(object) });
  if (kind === 'recreate')
    await writer.remove(context, name, { ...DELETE_NOW, preconditions: { uid: entry?.uid ?? '' } });
  if (kind === 'create' || kind === 'recreate') await writer.create(context, structuredClone(object));
}
