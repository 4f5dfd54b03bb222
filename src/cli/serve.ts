import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { assertFree } from '../http/http-server.ts';
import { checkExposure } from '../options/authorization.ts';
import { checkFiles } from '../options/files.ts';
import { blameFlag, explainFlag } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { listenerFlags, type ServingOptions, threadFlags } from '../options/serving.ts';
import { ownFlags, type StorageOptions, storageFlags } from '../options/storage.ts';
import type { TlsOptions } from '../options/tls.ts';
import { findAdvertisedAddress, firstServiceAddress } from '../server/advertised-address.ts';
import { overridesOf } from '../server/databases.ts';
import { createEgress, type Egress } from '../server/egress.ts';
import { openEncryption } from '../server/encryption.ts';
import type { ServerEnvironment } from '../server/foundation.ts';
import { whyNotShared } from '../server/threads/thread-count.ts';
import { type RunningServer, startServer } from '../server.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import { type DatabaseSetup, setUpDatabase } from '../storage/postgres/setup.ts';
import { errorText } from '../util/error-text.ts';
import { giveBackMemory } from '../util/give-back-memory.ts';
import { makeFolder } from '../util/make-folder.ts';
import { aborted } from '../util/pause.ts';
import {
  type ClusterCertificates,
  ensureCertificates,
  type ServingWishes,
  writeKubeconfig,
} from './certificates.ts';
import { databaseConnection, describeWindow, windowWish } from './database.ts';
import { copyCertificates } from './embedded/cluster-template.ts';
import { EmbeddedPostgres } from './embedded/embedded-postgres.ts';
import type { KeepKey } from './kept-keys.ts';
import { lockDataDir } from './lock.ts';
import { openLog } from './open-log.ts';
import { readyFile } from './ready-file.ts';
import { ensureServiceAccountKey } from './service-account-key.ts';
import { findServiceManager } from './service-manager.ts';
import { chooseSigningPair, identifyServer, readServingCa } from './serving-pair.ts';
import { stopSignal } from './stop-signal.ts';
import { threadFile } from './thread-file.ts';
import { waitForDatabase } from './wait-for-database.ts';
import { ensureTemplate, UNSYNCED } from './warm-start.ts';

/** Reverts a step of the start. The steps run in reverse order. */
type Undo = () => Promise<void> | void;

/** How a process serves that serves more than once. */
export interface ServeTurn {
  readonly stop: AbortSignal;
  onReady(port: number): void;
}

/** Runs the server until a signal ends it. @throws Error with a message of one line, when it cannot start or continue */
export async function serve(options: ServerOptions, turn?: ServeTurn): Promise<void> {
  const undo: Undo[] = [];
  const stop = turn?.stop ?? stopSignal(options.process);
  const manager = findServiceManager(process.env);
  undo.push(() => manager.close());
  try {
    const server = await begin(options, undo, stop);
    undo.push(() => server.close());
    // The code is needed again in the next turn.
    if (turn === undefined) giveBackMemory();
    turn?.onReady(server.port);
    manager.ready();
    await Promise.race([aborted(stop), server.failed.catch(endInTime)]);
    manager.stopping();
    process.stderr.write('stopping\n');
  } catch (error) {
    // A start that is stopped ends without an error: it served no requests yet.
    if (!stop.aborted || error !== stop.reason) throw error;
    process.stderr.write('stopping before the start was finished\n');
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** A broken server may hang while it ends. It must not serve for longer. */
const ENDING_MS = 10_000;

function endInTime(reason: unknown): never {
  setTimeout(() => {
    process.stderr.write(`pg-apiserver: ${errorText(reason)}\n`);
    process.exit(1);
  }, ENDING_MS).unref();
  throw reason;
}

/** What the steps of a start share. */
interface Start {
  readonly options: ServerOptions;
  readonly dataDir: string;
  readonly databaseUrls: readonly string[];
  readonly encryption: EncryptionFile | undefined;
  readonly egress: Egress;
  readonly progress: (message: string) => void;
  readonly stop: AbortSignal;
}

interface ClusterKeys {
  readonly certificates: ClusterCertificates;
  readonly serviceAccountKeyFile: string;
}

async function begin(wished: ServerOptions, undo: Undo[], stop: AbortSignal): Promise<RunningServer> {
  const options = withPossibleThreads(wished);
  const { serving, storage } = options;
  checkExposure(serving, options.authorization);
  checkFiles(options);
  const ready = readyFile(options.process);
  ready.remove();
  const progress = createProgress();
  const encryption = openEncryption(storage);
  const dataDir = takeDataDir(storage, undo);
  await assertOpenable(serving);
  const database = await findDatabase(options, dataDir, { undo, progress, stop });
  const egress = createEgress(options.observability.egress);
  undo.push(() => egress.close());
  const databaseUrls = database.urls;
  const start: Start = { options, dataDir, databaseUrls, encryption, egress, progress, stop };
  const keys = await setUpDatabases(start);
  const server = await startServer(toEnvironment(start, keys));
  undo.push(() => ready.remove());
  const { certificates } = keys;
  const { url, kubeconfig } = announce(options, { dataDir, certificates, progress, port: server.port });
  ready.write({
    url,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ca: options.tls.certFile || certificates.caFile,
    pid: process.pid,
    ports: { secure: server.port, ...database.ports },
  });
  return server;
}

/** Makes the data folder, and locks it against other servers. */
function takeDataDir(storage: StorageOptions, undo: Undo[]): string {
  const dataDir = resolve(storage.dataDir);
  explainFlag(ownFlags.dataDir.shown, () => makeFolder(dataDir));
  const lock = lockDataDir(dataDir);
  undo.push(() => lock.release());
  return dataDir;
}

/** Brings all databases up to date, and finds the keys of the cluster. Waits for databases that do not answer yet. */
function setUpDatabases(start: Start): Promise<ClusterKeys> {
  const { options, databaseUrls, encryption, egress, progress, stop } = start;
  const { storage } = options;
  const sealer = createKeySealer(encryption?.encoding);
  const setUp = async (): Promise<ClusterKeys> => {
    // Plugins report the key with which to encrypt the cluster's own keys.
    await encryption?.ask();
    for (const { urls } of overridesOf(storage, databaseUrls))
      await setUpOther(start, urls, 'another database');
    const main = databaseConnection(storage, databaseUrls, egress.reroute);
    return setUpDatabase(main, (database) => setUpMain(start, database), sealer);
  };
  const { initializationTimeoutMs: ms } = storage;
  const patience = ms === 0 ? {} : { patience: { ms, flag: storageFlags.initializationTimeoutMs.shown } };
  return waitForDatabase(setUp, { signal: stop, say: progress, ...patience });
}

async function setUpMain(start: Start, database: DatabaseSetup): Promise<ClusterKeys> {
  const { options, dataDir, progress } = start;
  const window = await bringUpToDate(database, 'the database', start);
  for (const { urls } of await database.listMoved())
    await setUpOther(start, urls, 'the database of a moved resource');
  progress(describeWindow(window));
  progress(`an acknowledged write is ${await database.describeDurability()}`);
  return ensureKeys(options, dataDir, database);
}

async function setUpOther(start: Start, urls: readonly string[], which: string): Promise<void> {
  const { options, egress } = start;
  await setUpDatabase(databaseConnection(options.storage, urls, egress.reroute), (database) =>
    bringUpToDate(database, which, start),
  );
}

function toEnvironment(
  { options, databaseUrls, encryption, egress, stop }: Start,
  { certificates, serviceAccountKeyFile }: ClusterKeys,
): ServerEnvironment {
  return {
    options,
    databaseUrls,
    egress,
    serving: certificates.serving,
    servingCa: readServingCa(options.tls, certificates),
    signing: chooseSigningPair(options, certificates),
    // Configured authorities replace the one made here.
    clientCaFiles: [options.authentication.clientCaFile || certificates.caFile],
    serviceAccountKeyFile,
    encryption,
    logger: openLog(options.observability),
    stop,
    threadEntry: threadFile(),
  };
}

/** Looks at the address before a database is started for it. @throws Error that names the flags */
async function assertOpenable({ bindAddress, securePort, sharesPort }: ServingOptions): Promise<void> {
  if (sharesPort) return;
  await assertFree(bindAddress, securePort).catch((error: unknown) => {
    throw blameFlag(`${listenerFlags.securePort.shown}, ${listenerFlags.bindAddress.shown}`, error);
  });
}

/** Serves in one thread where threads cannot share the port. */
function withPossibleThreads(options: ServerOptions): ServerOptions {
  const { serving } = options;
  const why = serving.threads === 1 ? undefined : whyNotShared(process.platform, process.versions.node);
  if (why === undefined) return options;
  if (!serving.choosesThreads) createProgress()(`one thread serves: ${why} (${threadFlags.threads.shown})`);
  return { ...options, serving: { ...serving, threads: 1 } };
}

/** Applies migrations, and the history window. */
async function bringUpToDate(
  database: DatabaseSetup,
  which: string,
  { options, progress }: Pick<Start, 'options' | 'progress'>,
): ReturnType<DatabaseSetup['keepHistoryWindow']> {
  progress(database.encryption);
  const logged = await database.describeLoggedValues();
  if (logged !== undefined) progress(logged);
  const applied = await database.migrate({ say: progress });
  // Of a new database, the names of all migrations say nothing.
  if (applied.includes('baseline')) progress(`made the schema of ${which}`);
  else if (applied.length > 0) progress(`brought ${which} up to date (${applied.join(', ')})`);
  return database.keepHistoryWindow(windowWish(options.storage));
}

/** Adopts the keys that other servers of this database made, so that clients see one cluster. */
async function ensureKeys(
  { authentication, serving, services, tls }: ServerOptions,
  dataDir: string,
  database: DatabaseSetup,
): Promise<ClusterKeys> {
  const folder = join(dataDir, 'certificates');
  const keep: KeepKey = (name, wishes) => database.keepKey(name, wishes);
  const certificates = await ensureCertificates(
    folder,
    addressesOf(serving, firstServiceAddress(services.clusterIpRanges)),
    wishesOf(serving, tls),
    keep,
  );
  const given = authentication.serviceAccounts.signingKeyFile;
  if (given === '') await ensureServiceAccountKey(folder, database.signingKeys);
  return { certificates, serviceAccountKeyFile: given };
}

/** The cluster, its keys included, is a copy. */
async function warm(
  dataDir: string,
  progress: (message: string) => void,
  stop: AbortSignal,
): Promise<{ readonly template: string; readonly settings: readonly string[] }> {
  const template = await ensureTemplate(progress, stop);
  copyCertificates(template, dataDir);
  return { template: join(template, 'postgres'), settings: UNSYNCED };
}

interface FoundDatabase {
  readonly urls: readonly string[];
  /** That of the embedded PostgreSQL. */
  readonly ports: { readonly postgres?: number };
}

async function findDatabase(
  { storage, process: { startsWarm } }: ServerOptions,
  dataDir: string,
  { undo, progress, stop }: { undo: Undo[]; progress: (message: string) => void; stop: AbortSignal },
): Promise<FoundDatabase> {
  if (storage.databaseUrls.length > 0) return { urls: storage.databaseUrls, ports: {} };
  const postgres = new EmbeddedPostgres({
    ...{ folder: join(dataDir, 'postgres'), port: 0, onProgress: progress },
    ...(startsWarm ? await warm(dataDir, progress, stop) : { settings: [] }),
  });
  await postgres.start();
  undo.push(() => postgres.stop());
  postgres.keepRunning();
  postgres.writeUrl(join(dataDir, 'postgres.url'));
  progress('PostgreSQL is running');
  return { urls: [postgres.url], ports: { postgres: Number(new URL(postgres.url).port) } };
}

const isUnspecified = (address: string): boolean =>
  address === '' || address === '0.0.0.0' || address === '::';

function addressesOf({ bindAddress, advertiseAddress }: ServingOptions, service: string): string[] {
  const addresses = [
    isUnspecified(bindAddress) ? '' : bindAddress,
    findAdvertisedAddress(advertiseAddress, bindAddress) ?? '',
    service,
  ];
  return addresses.filter((address) => address !== '');
}

function wishesOf(
  { externalHostname, certDir }: ServingOptions,
  { certFile, keyFile }: TlsOptions,
): ServingWishes {
  if (certFile !== '') return { brought: { certFile, keyFile } };
  return {
    names: externalHostname === '' ? [] : [externalHostname],
    ...(certDir === '' ? {} : { folder: resolve(certDir) }),
  };
}

interface Announcement {
  readonly dataDir: string;
  readonly certificates: ClusterCertificates;
  readonly progress: (message: string) => void;
  readonly port: number;
}

function announce(
  { serving: { bindAddress }, authentication: { clientCaFile }, tls }: ServerOptions,
  { dataDir, certificates, progress, port }: Announcement,
): { readonly url: string; readonly kubeconfig: string | undefined } {
  const address = isUnspecified(bindAddress) ? '127.0.0.1' : bindAddress;
  const url = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const kubeconfig = join(dataDir, 'admin.kubeconfig');
  // A server with another authority does not trust the administrator's certificate made here.
  if (clientCaFile === '')
    writeKubeconfig(kubeconfig, identifyServer(tls, certificates, { url, host: address }), certificates);
  progress(`serving on ${url}`);
  process.stdout.write(
    clientCaFile === ''
      ? `\n  export KUBECONFIG=${kubeconfig} && kubectl get namespaces\n\n`
      : `\n  Clients need certificates signed by ${clientCaFile}; ${tls.certFile || certificates.caFile} verifies this server.\n\n`,
  );
  return { url, kubeconfig: clientCaFile === '' ? kubeconfig : undefined };
}

/** Writes one line for each step, with the time since the start. */
function createProgress(): (message: string) => void {
  return (message) => {
    process.stdout.write(`${process.uptime().toFixed(1).padStart(6)}s  ${message}\n`);
  };
}
