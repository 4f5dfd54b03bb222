import type { JsonValue } from '../api/object-meta.ts';
import type { Access } from './access.ts';
import type { AdmissionPlugin } from './admission.ts';
import type { ClusterObjects } from './cluster-objects.ts';

/** What most plugins are made from. A plugin that needs more names it where it describes itself. */
export interface PluginParts {
  readonly objects: ClusterObjects;
  readonly access: Access;
  isFeatureOn(gate: string): boolean;
  /** Of the file --admission-control-config-file; undefined: the plugin's defaults. */
  readonly config: JsonValue | undefined;
}

/** A plugin as its file describes it. */
export interface PluginDescription<Name extends string, Parts> {
  readonly name: Name;
  /** False: it is off unless --enable-admission-plugins names it. */
  readonly isDefault: boolean;
  /** @throws Error that says what is wrong with its configuration */
  readonly create: (parts: Parts) => AdmissionPlugin;
}

export const describePlugin = <const Name extends string, Parts>(
  description: PluginDescription<Name, Parts>,
): PluginDescription<Name, Parts> => description;
