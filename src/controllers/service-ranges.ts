import type { Minor } from '../api/emulation.ts';
import { SERVICES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Service } from '../api/types/core/v1.ts';
import type { IPAddress, ServiceCIDR } from '../api/types/networking/v1beta1.ts';
import { type Condition, type Finding, withCondition } from '../object/conditions.ts';
import { contains, formatIp, type IpRange, networkBytes, parseCidr, parseIp } from '../object/ip.ts';
import { toTimestamp } from '../object/timestamps.ts';
import { createAddressPool, familyName, joinPools, type ValuePool } from '../registry/value-pool.ts';
import type { Followed } from '../storage/follower.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { keepDoing } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';
import type { DueRule } from './cleaning/due-objects.ts';

/**
 * Ranges of service addresses that can grow (the feature MultiCIDRServiceAllocator): those of --service-cluster-ip-range, and those
 * of ServiceCIDRs that are ready. Each address that a service has is shown as an IPAddress (Kubernetes:
 * pkg/registry/core/service/ipallocator, pkg/controller/servicecidrs).
 */

export const SERVICE_CIDRS: ResourceOf<ServiceCIDR> = {
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
};
export const IP_ADDRESSES: ResourceOf<IPAddress> = { group: 'networking.k8s.io', resource: 'ipaddresses' };

const API_VERSION = 'networking.k8s.io/v1beta1';
/** The name of the ServiceCIDR that shows the ranges of the flags. */
const DEFAULT = 'kubernetes';
const DEFAULT_MANAGER = 'kubernetes-service-cidr-controller';
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';
const FAMILY = 'ipaddress.kubernetes.io/ip-family';
const ALLOCATOR = 'ipallocator.k8s.io';
const RETRY_MS = 5000;

const rangesOf = ({ spec = {} }: ServiceCIDR): IpRange[] =>
  (spec.cidrs ?? []).map(parseCidr).filter((range) => range !== undefined);

const isDeleting = ({ metadata }: ApiObject): boolean => metadata.deletionTimestamp !== undefined;

const isReady = ({ status }: ServiceCIDR): boolean =>
  (status?.conditions ?? []).some(({ type, status: isTrue }) => type === 'Ready' && isTrue === 'True');

/**
 * The pools of addresses: one for each family in the flags, from all ranges. `ready`: those of ServiceCIDRs; undefined: ranges
 * cannot grow.
 */
export function poolsOf(own: readonly IpRange[], ready: readonly IpRange[] | undefined): ValuePool[] {
  const isWhole = ready !== undefined;
  return own.map((range, at) => {
    const used = widest([range, ...(ready ?? []).filter(({ family }) => family === range.family)]);
    const home = used.find((one) => contains(one, range)) ?? range;
    const others = used
      .filter((one) => one !== home)
      .map((one) => createAddressPool(one, { reserved: 0, isWhole }));
    // The first address of the flags belongs to the service of this API.
    const reserved = at === 0 && home === range ? 1 : 0;
    return joinPools(createAddressPool(home, { reserved, isWhole }), others);
  });
}

/** Drops ranges within others; ranges never overlap partly. */
function widest(ranges: readonly IpRange[]): IpRange[] {
  const kept: IpRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.prefixBits - b.prefixBits))
    if (!kept.some((known) => contains(known, range))) kept.push(range);
  return kept;
}

/** Follows the ServiceCIDRs and reports the ranges of those that are ready. */
export class ReadyRanges implements Followed {
  readonly #onChange: (ranges: IpRange[]) => void;
  readonly #ranges = new Map<string, readonly IpRange[]>();
  #told = '[]';

  constructor(onChange: (ranges: IpRange[]) => void) {
    this.#onChange = onChange;
  }

  replace(entries: readonly Entry[]): void {
    this.#ranges.clear();
    for (const entry of entries) this.#note(entry);
    this.#tell();
  }

  apply({ type, entry }: ObjectEvent): void {
    if (type === 'DELETED') this.#ranges.delete(entry.name);
    else this.#note(entry);
    this.#tell();
  }

  #note(entry: Entry): void {
    const object = toObject<ServiceCIDR>(entry);
    this.#ranges.set(entry.name, isReady(object) && !isDeleting(object) ? rangesOf(object) : []);
  }

  #tell(): void {
    const ranges = [...this.#ranges.values()].flat();
    const text = JSON.stringify(ranges);
    // Most writes of these objects only change their status.
    if (text === this.#told) return;
    this.#told = text;
    this.#onChange(ranges);
  }
}

interface DefaultRangeOptions {
  readonly client: Client;
  /** Of the flags. */
  readonly own: readonly IpRange[];
  readonly minor: Minor;
  onError(error: unknown): void;
}

/**
 * Keeps the ServiceCIDR with the ranges of the flags: administrators delete it to move to other ranges (Kubernetes:
 * controlplane/controller/defaultservicecidr, which looks for it every ten seconds).
 */
export class DefaultRange {
  readonly #options: DefaultRangeOptions;
  readonly #client: Client;
  readonly #cidrs: string[];

  constructor(options: DefaultRangeOptions) {
    this.#options = options;
    this.#client = options.client.as('kube-apiserver');
    this.#cidrs = options.own.map(
      ({ bytes, prefixBits }) => `${formatIp(networkBytes(bytes, prefixBits))}/${prefixBits}`,
    );
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#options.onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
  }

  /** Creates it, unless it exists. Since 1.33 an existing one gets the range of a second family. @throws StatusError, StorageError */
  async ensure(): Promise<void> {
    const cidrs = this.#cidrs;
    const expected: ServiceCIDR = {
      kind: 'ServiceCIDR',
      apiVersion: API_VERSION,
      metadata: { name: DEFAULT, finalizers: [FINALIZER] },
      spec: { cidrs },
    };
    await this.#client.ensure(SERVICE_CIDRS, expected, {
      mend: (found) => (this.#lacksFamily(found) ? { ...found, spec: { cidrs } } : undefined),
      trust: 'cached-if-found',
    });
  }

  #lacksFamily(found: ServiceCIDR): boolean {
    const { minor } = this.#options;
    const [first, second] = found.spec?.cidrs ?? [];
    const [own, other] = this.#cidrs;
    return minor >= 33 && first === own && second === undefined && other !== undefined && !isDeleting(found);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const _ of this.#client.changes(SERVICE_CIDRS, signal)) await this.ensure();
  }
}

/** Kubernetes' server speaks of the default one, its controller manager of all others. */
const readyOf = ({ metadata: { name } }: ServiceCIDR): Finding => ({
  type: 'Ready',
  status: 'True',
  reason: '',
  message: `Kubernetes ${name === DEFAULT ? 'default ' : ''}Service CIDR is ready`,
});
const TERMINATING: Finding = {
  type: 'Ready',
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

/** Makes ServiceCIDRs ready, and keeps those being deleted while services use their addresses. */
export function serviceCidrs(now: () => Date): DueRule<ServiceCIDR> {
  return {
    resource: SERVICE_CIDRS,
    manager: 'service-cidr-controller',
    mayBeDue: () => true,
    dueAt: (object) => {
      const isHeld = (object.metadata.finalizers ?? []).includes(FINALIZER);
      if (isDeleting(object)) return isHeld ? 0 : undefined;
      return isHeld && isReady(object) ? undefined : 0;
    },
    act: async (entry, client) => {
      const object = toObject<ServiceCIDR>(entry);
      if (isDeleting(object)) return end(object, client, now());
      await hold(object, client);
      await report(object, client, { found: readyOf(object), time: now() });
      return undefined;
    },
  };
}

async function hold({ metadata: { name = '' } }: ServiceCIDR, client: Client): Promise<void> {
  await client.update(SERVICE_CIDRS, { name }, (copy) => {
    const held = new Set([...(copy.metadata.finalizers ?? []), FINALIZER]);
    return isDeleting(copy) ? copy : { ...copy, metadata: { ...copy.metadata, finalizers: [...held] } };
  });
}

async function report(
  { metadata: { name = '' }, status: { conditions: known = [] } = {} }: ServiceCIDR,
  client: Client,
  { found, time }: { readonly found: Finding; readonly time: Date },
): Promise<void> {
  const at = toTimestamp(time);
  const before = known.filter(({ type }) => type === found.type);
  // An empty reason is left out, so that it has no owner.
  const conditions = withCondition(before, found, at).map(withoutEmptyReason);
  // As the server of Kubernetes does for its own ranges, and its controller manager for the others.
  const author = name === DEFAULT ? client.as(DEFAULT_MANAGER) : client;
  await author.apply(SERVICE_CIDRS, { name, subresource: 'status' }, { status: { conditions } });
}

function withoutEmptyReason({ reason = '', ...condition }: Condition): Condition {
  return reason === '' ? condition : { ...condition, reason };
}

/** Returns the milliseconds until the next check. */
async function end(object: ServiceCIDR, client: Client, time: Date): Promise<number | undefined> {
  const { name = '' } = object.metadata;
  const others = (await client.list(SERVICE_CIDRS))
    .filter((other) => other.metadata.name !== name && isReady(other) && !isDeleting(other))
    .flatMap(rangesOf);
  const isWithin = (ranges: readonly IpRange[], address: IPAddress): boolean =>
    ranges.some((range) => holds(range, address.metadata.name ?? ''));
  const used = (await client.list(IP_ADDRESSES)).some(
    (address) => isWithin(rangesOf(object), address) && !isWithin(others, address),
  );
  if (used) {
    await report(object, client, { found: TERMINATING, time });
    return RETRY_MS;
  }
  await client.update(SERVICE_CIDRS, { name }, (copy) => {
    const finalizers = (copy.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
    return { ...copy, metadata: { ...copy.metadata, finalizers } };
  });
  return undefined;
}

function holds(range: IpRange, text: string): boolean {
  const address = parseIp(text);
  if (address === undefined || address.family !== range.family) return false;
  return contains(range, { ...address, prefixBits: address.bytes.length * 8 });
}

/** Records the addresses of services as IPAddresses. Every server does so; the later ones find them recorded. */
export class AddressRecords {
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  /** The addresses that each service was last seen with. */
  readonly #known = new Map<string, readonly string[]>();

  constructor(options: { readonly client: Client; readonly onError: (error: unknown) => void }) {
    this.#client = options.client.as('service-ip-allocator', AS_SERVER);
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
  }

  /** Public for tests. @throws StatusError, StorageError */
  async note({ type, entry }: ObjectEvent): Promise<void> {
    const { namespace, name } = entry;
    const key = `${namespace}/${name}`;
    const addresses = type === 'DELETED' ? [] : addressesOf(toObject<Service>(entry));
    const before = this.#known.get(key) ?? [];
    for (const address of addresses) if (!before.includes(address)) await this.#record(address, entry);
    for (const address of before) if (!addresses.includes(address)) await this.#forget(address, entry);
    if (type === 'DELETED') this.#known.delete(key);
    else this.#known.set(key, addresses);
  }

  /** Removes records of services that have ended. @throws StatusError, StorageError */
  async sweep(): Promise<void> {
    const held = new Set<string>();
    for await (const service of this.#client.each(SERVICES))
      for (const address of addressesOf(service)) held.add(address);
    for (const { metadata, spec } of await this.#client.list(IP_ADDRESSES)) {
      const { name = '', uid = '', labels = {} } = metadata;
      const isOurs = labels[MANAGED_BY] === ALLOCATOR && spec?.parentRef?.resource === 'services';
      if (isOurs && !held.has(name)) await this.#client.remove(IP_ADDRESSES, { name }, { uid });
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.#known.clear();
    await this.sweep();
    for await (const event of this.#client.watch(SERVICES, signal)) await this.note(event);
  }

  async #record(address: string, { namespace, name }: Entry): Promise<void> {
    const family = familyName(address.includes(':') ? 6 : 4);
    const parentRef = { resource: 'services', namespace, name };
    const object: IPAddress = {
      kind: 'IPAddress',
      apiVersion: API_VERSION,
      metadata: { name: address, labels: { [FAMILY]: family, [MANAGED_BY]: ALLOCATOR } },
      spec: { parentRef },
    };
    const found = await this.#client.get(IP_ADDRESSES, { name: address }, 'cached-if-found');
    const isForeign = found !== undefined && !isOf(found, { namespace, name });
    // The record belongs to an ended service.
    if (isForeign)
      await this.#client.remove(IP_ADDRESSES, { name: address }, { uid: found.metadata.uid ?? '' });
    if (found === undefined || isForeign) await this.#client.create(IP_ADDRESSES, object);
  }

  async #forget(address: string, service: Entry): Promise<void> {
    const found = await this.#client.get(IP_ADDRESSES, { name: address });
    if (found === undefined || !isOf(found, service)) return;
    await this.#client.remove(IP_ADDRESSES, { name: address }, { uid: found.metadata.uid ?? '' });
  }
}

const isOf = (
  { spec }: IPAddress,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): boolean => spec?.parentRef?.namespace === namespace && spec.parentRef.name === name;

function addressesOf({ spec = {} }: Service): string[] {
  if (spec.type === 'ExternalName') return [];
  return (spec.clusterIPs ?? []).flatMap((ip) => {
    const address = parseIp(ip);
    return address === undefined ? [] : [formatIp(address.bytes)];
  });
}
