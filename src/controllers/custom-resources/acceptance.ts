import { DEFINITIONS } from '../../api/known-resources.ts';
import type { CustomResourceDefinition } from '../../api/types/apiextensions/v1.ts';
import { cutObjects } from '../../codec/cut-objects.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { toObject } from '../../storage/object-reader.ts';
import { type Revision, toResourceVersion } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';
import { keepDoing, pause, pauseAfter } from '../../util/pause.ts';
import { Pace } from '../../util/turns.ts';
import { AS_SERVER, type Client } from '../../verbs/client/client.ts';
import { orFact } from '../../verbs/writing/write-call.ts';
import { conditionOf, type Findings, withFindings } from './definition-conditions.ts';
import { type Claim, decideNames, type NameDecision, type ReservedNames } from './definition-names.ts';

const RETRY_MS = 1000;
/** Retries of failed writes: a webhook that refuses the status of a definition may go on doing so. */
const BACKOFF = { firstMs: 500, longestMs: 60_000 };

interface AcceptanceOptions {
  readonly client: Client;
  /** Names of the built-in resources of a group. */
  readonly reserved: (group: string) => ReservedNames;
  /** Why the schemas of a definition are not structural; '' when they are. */
  readonly violations: (definition: CustomResourceDefinition) => string;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/**
 * Writes the status of each definition: its accepted names, whether it is served, and other conditions, all in one write,
 * because each write delays the moment at which clients may use the resource.
 *
 * Every server does this for all definitions, so that no server waits for one that has ended. All reach the same results
 * (definition-names.ts), and the first write turns those of the others into conflicts, which need no answer.
 */
export class CustomResourceAcceptance {
  readonly #options: AcceptanceOptions;
  readonly #client: Client;
  readonly #known = new WeakMap<Entry, Known>();
  /** Groups with changes. */
  readonly #due = new Set<string>();
  #wake = Promise.withResolvers<void>();
  /** By name of the definition, the revision that its status is being written for. */
  readonly #writing = new Map<string, Revision>();
  readonly #failures = new Map<string, number>();

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    this.#client = options.client.as('crd-naming-condition-controller', AS_SERVER);
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#options.onError };
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    await Promise.all([
      keepDoing(() => this.#follow(signal), signal, retry),
      keepDoing(() => this.#decideDue(signal), signal, retry),
    ]);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(DEFINITIONS, signal)) {
      if (type === 'DELETED') this.#failures.delete(entry.name);
      this.#lookAt(groupOf(entry.name));
    }
  }

  #lookAt(group: string): void {
    this.#due.add(group);
    this.#wake.resolve();
  }

  async #decideDue(signal: AbortSignal): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
    const due = new Set(this.#due);
    this.#due.clear();
    if (signal.aborted) return;
    try {
      await this.#decide(due, signal);
    } catch (error) {
      for (const group of due) this.#due.add(group);
      this.#wake.resolve();
      throw error;
    }
  }

  async #decide(due: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const groups = new Map([...due].map((group): [string, Known[]] => [group, []]));
    const pace = new Pace({ stepsBetween: 1 });
    // One state of the log: decisions on a mixture of states could contradict those of another server.
    for (const entry of await this.#client.entries(DEFINITIONS, {}, 'cached')) {
      const members = groups.get(groupOf(entry.name));
      if (members === undefined) continue;
      if (pace.isOver()) await pace.rest();
      members.push(this.#read(entry));
    }
    for (const [group, members] of groups) {
      const claims = members.map(({ claim }) => claim);
      const decisions = decideNames(claims, this.#options.reserved(group));
      for (const known of members) {
        const names = decisions.get(known.claim.name);
        if (names !== undefined) this.#begin(known, names, signal);
      }
    }
  }

  #read(entry: Entry): Known {
    const known = this.#known.get(entry);
    if (known !== undefined) return known;
    const definition = parseStored<CustomResourceDefinition>(cutObjects(entry.json, 'openAPIV3Schema'));
    const { metadata, spec = {}, status = {} } = definition;
    const read: Known = {
      claim: {
        name: entry.name,
        revision: entry.revision,
        wanted: spec.names ?? {},
        accepted: status.acceptedNames ?? {},
        isEnding: metadata.deletionTimestamp !== undefined,
      },
      outline: withoutSchemas(definition),
      violations: mayBreakStructure(definition) ? this.#options.violations(toObject(entry)) : '',
    };
    this.#known.set(entry, read);
    return read;
  }

  /** Begins a write unless the status is complete or being written. */
  #begin({ claim, outline, violations }: Known, names: NameDecision, signal: AbortSignal): void {
    const { name, revision } = claim;
    const findings = { names, violations };
    if (this.#writing.get(name) === revision) return;
    if (withFindings(outline, findings, NO_TIME) === outline.status) return;
    this.#writing.set(name, revision);
    void this.#write(claim, findings, signal).then((outcome) => {
      if (this.#writing.get(name) === revision) this.#writing.delete(name);
      if (outcome === 'failed') this.#lookAt(groupOf(name));
    });
  }

  /** Never rejects. Waits before it returns after a failure. */
  async #write(
    { name, revision }: Claim,
    findings: Findings,
    signal: AbortSignal,
  ): Promise<'written' | 'failed'> {
    const time = toTimestamp(this.#options.now());
    const resourceVersion = toResourceVersion(revision);
    try {
      const change = (copy: CustomResourceDefinition): CustomResourceDefinition => ({
        ...copy,
        metadata: { ...copy.metadata, resourceVersion },
        status: withFindings(copy, findings, time),
      });
      const target = { name, subresource: 'status' };
      const written = this.#client.updateState(DEFINITIONS, target, change, { leavesCopy: true });
      // Another server was faster, or the definition has changed: its event starts a new attempt.
      await orFact(written, 'Conflict', 'conflict');
      this.#failures.delete(name);
      return 'written';
    } catch (error) {
      const failures = (this.#failures.get(name) ?? 0) + 1;
      this.#failures.set(name, failures);
      if (!signal.aborted) this.#options.onError(error);
      await pause(pauseAfter(failures, BACKOFF), signal);
      return 'failed';
    }
  }
}

/** The parts of a definition to keep. Its schemas are large and are not needed. */
interface Known {
  readonly claim: Claim;
  readonly outline: CustomResourceDefinition;
  readonly violations: string;
}

/** The time in statuses that are only compared. */
const NO_TIME = '';

function withoutSchemas({
  kind,
  apiVersion,
  metadata,
  spec = {},
  status = {},
}: CustomResourceDefinition): CustomResourceDefinition {
  const { versions, ...rest } = spec;
  const { annotations } = metadata;
  return {
    kind,
    apiVersion,
    metadata: annotations === undefined ? {} : { annotations },
    spec: { ...rest, versions: (versions ?? []).map(({ schema: _, ...version }) => version) },
    status,
  };
}

/** The name of a definition is plural and group. */
const groupOf = (name: string): string => name.slice(name.indexOf('.') + 1);

/** v1 accepts only structural schemas. Older definitions may have others. */
const mayBreakStructure = (definition: CustomResourceDefinition): boolean =>
  definition.spec?.preserveUnknownFields === true ||
  conditionOf(definition, 'NonStructuralSchema') !== undefined;
