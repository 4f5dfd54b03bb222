import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import type { GatedFeature } from './gated-feature.ts';
import { GATED_FIELDS } from './gated-field-table.ts';

/** Where in an object fields of several features are: one walk finds them all. */
interface Branch {
  readonly name: string;
  readonly inside: Branch[];
  feature: GatedFeature | undefined;
}

interface Hit {
  readonly owner: JsonObject;
  readonly name: string;
  readonly feature: GatedFeature;
}

export class GatedFields {
  readonly #isOn: (gate: string) => boolean;
  readonly #trees = new Map<string, Branch[]>();

  constructor(isOn: (gate: string) => boolean) {
    this.#isOn = isOn;
  }

  /** Changes `object`, never `old`, whose parts it may hold. */
  drop({ group, resource }: ResourceName, object: ApiObject, old?: ApiObject): void {
    const hits: Hit[] = [];
    find(object, this.#treeOf(`${group}/${resource}`), hits);
    if (hits.length === 0) return;
    for (const feature of new Set(hits.map((hit) => hit.feature))) {
      if (old !== undefined && isUsed(feature, old)) continue;
      if (feature.drop === undefined) for (const hit of hits) takeAway(hit, feature);
      else feature.drop(object);
    }
  }

  #treeOf(key: string): Branch[] {
    let tree = this.#trees.get(key);
    if (tree === undefined) {
      tree = [];
      for (const feature of GATED_FIELDS[key] ?? [])
        if (!feature.gate.split('|').some(this.#isOn))
          for (const path of feature.paths) plant(tree, path.split('.'), feature);
      this.#trees.set(key, tree);
    }
    return tree;
  }
}

interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

function plant(tree: Branch[], path: readonly string[], feature: GatedFeature): void {
  const [name = '', ...rest] = path;
  let branch = tree.find((one) => one.name === name);
  if (branch === undefined) {
    branch = { name, inside: [], feature: undefined };
    tree.push(branch);
  }
  if (rest.length === 0) branch.feature = feature;
  else plant(branch.inside, rest, feature);
}

function find(owner: JsonObject, tree: readonly Branch[], hits: Hit[]): void {
  for (const { name, inside, feature } of tree) {
    const value = owner[name];
    if (value === undefined || value === null) continue;
    if (feature !== undefined && value !== feature.neutral) hits.push({ owner, name, feature });
    else if (inside.length > 0) findInside(value, inside, hits);
  }
}

function findInside(value: JsonValue, tree: readonly Branch[], hits: Hit[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) for (const item of value) findInside(item, tree, hits);
  else find(value, tree, hits);
}

function takeAway({ owner, name, feature }: Hit, dropped: GatedFeature): void {
  if (feature !== dropped) return;
  if (feature.neutral === undefined) delete owner[name];
  else owner[name] = feature.neutral;
}

function isUsed(feature: GatedFeature, old: ApiObject): boolean {
  const tree: Branch[] = [];
  for (const path of [...feature.paths, ...(feature.usedBy ?? [])]) plant(tree, path.split('.'), feature);
  const hits: Hit[] = [];
  find(old, tree, hits);
  return hits.length > 0;
}
