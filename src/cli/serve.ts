import { mkdirSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { checkExposure } from '../options/exposure.ts';
import type { ServerOptions } from '../options/options.ts';
import { findAdvertisedAddress, firstServiceAddress } from '../server/advertised-address.ts';
import { type RunningServer, startServer } from '../server.ts';
import { type DatabaseSetup, setUpDatabase } from '../storage/postgres/setup.ts';
import { giveBackMemory } from '../util/give-back-memory.ts';
import { aborted } from '../util/pause.ts';
import { type ClusterCertificates, ensureCertificates, type ServingWishes } from './certificates.ts';
import { databaseConnection, describeWindow, windowWish } from './database.ts';
import { EmbeddedPostgres } from './embedded/embedded-postgres.ts';
import type { KeepKey } from './kept-keys.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { lockDataDir } from './lock.ts';
import { openLog } from './log.ts';
import { ensureServiceAccountKey } from './service-account-key.ts';
import { chooseServingPair, readServingCa } from './serving-pair.ts';
import { stopSignal } from './stop-signal.ts';
import { waitForDatabase } from './wait-for-database.ts';

/** What has been begun and must be ended, last first. */
type Undo = () => Promise<void> | void;

/** Runs the server until a signal ends it. @throws Error, one line for a person, when it cannot begin or go on */
export async function serve(options: ServerOptions): Promise<void> {
  const undo: Undo[] = [];
  const stop = stopSignal();
  try {
    const server = await begin(options, undo, stop);
    undo.push(() => server.close());
    await Promise.race([aborted(stop), server.failed.catch(endInTime)]);
    process.stderr.write('stopping\n');
  } catch (error) {
    // Nothing was begun that somebody waits for: a start that is stopped has ended as it should.
    if (!stop.aborted || error !== stop.reason) throw error;
    process.stderr.write('stopping before the start was finished\n');
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** What is broken may not even end: nobody is to be served by it for longer than this. */
const ENDING_MS = 10_000;

function endInTime(reason: unknown): never {
  setTimeout(() => {
    process.stderr.write(`pg-apiserver: ${reason instanceof Error ? reason.message : String(reason)}\n`);
    process.exit(1);
  }, ENDING_MS).unref();
  throw reason;
}

async function begin(options: ServerOptions, undo: Undo[], stop: AbortSignal): Promise<RunningServer> {
  checkExposure(options);
  const progress = createProgress();
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const lock = lockDataDir(dataDir);
  undo.push(() => lock.release());
  const databaseUrls = await findDatabase(options, dataDir, { undo, progress });
  const setUp = (): ReturnType<typeof ensureKeys> =>
    setUpDatabase(databaseConnection(options, databaseUrls), async (database) => {
      progress(database.encryption);
      const applied = await database.migrate();
      if (applied.length > 0) progress(`brought the database up to date (${applied.join(', ')})`);
      progress(describeWindow(await database.keepHistoryWindow(windowWish(options))));
      progress(`an acknowledged write is ${await database.describeDurability()}`);
      return ensureKeys(options, dataDir, database);
    });
  const waiting = { signal: stop, say: progress };
  const { certificates, serviceAccountKeyFile } = await waitForDatabase(setUp, waiting);
  const server = await startServer({
    options,
    databaseUrls,
    serving: chooseServingPair(options, certificates.serving),
    servingCa: readServingCa(options, certificates),
    // With --client-ca-file given, only its authorities are trusted, and the one made here is not.
    clientCaFiles: [options.clientCaFile || certificates.caFile],
    serviceAccountKeyFile,
    logger: openLog(options),
    stop,
  });
  giveBackMemory();
  announce(options, dataDir, certificates, progress);
  return server;
}

/** What other servers of this database have made is taken over, so that all are one cluster to their clients. */
async function ensureKeys(
  options: ServerOptions,
  dataDir: string,
  database: DatabaseSetup,
): Promise<{ certificates: ClusterCertificates; serviceAccountKeyFile: string }> {
  const folder = join(dataDir, 'certificates');
  const keep: KeepKey = (name, wishes) => database.keepKey(name, wishes);
  const certificates = await ensureCertificates(folder, addressesOf(options), wishesOf(options), keep);
  const given = options.authentication.serviceAccounts.signingKeyFile;
  if (given === '') await ensureServiceAccountKey(folder, database.signingKeys);
  return { certificates, serviceAccountKeyFile: given };
}

async function findDatabase(
  options: ServerOptions,
  dataDir: string,
  { undo, progress }: { undo: Undo[]; progress: (message: string) => void },
): Promise<readonly string[]> {
  if (options.databaseUrls.length > 0) return options.databaseUrls;
  const folder = join(dataDir, 'postgres');
  const postgres = new EmbeddedPostgres({ folder, port: 0, settings: [], onProgress: progress });
  await postgres.start();
  undo.push(() => postgres.stop());
  postgres.writeUrl(join(dataDir, 'postgres.url'));
  progress('PostgreSQL is running');
  return [postgres.url];
}

const isUnspecified = (address: string): boolean =>
  address === '' || address === '0.0.0.0' || address === '::';

function addressesOf({ bindAddress, serving }: ServerOptions): string[] {
  const addresses = [
    isUnspecified(bindAddress) ? '' : bindAddress,
    findAdvertisedAddress(serving.advertiseAddress, bindAddress) ?? '',
    firstServiceAddress(serving.serviceRanges),
  ];
  return addresses.filter((address) => address !== '');
}

function wishesOf({ serving: { externalHostname, certDir } }: ServerOptions): ServingWishes {
  return {
    names: externalHostname === '' ? [] : [externalHostname],
    ...(certDir === '' ? {} : { folder: resolve(certDir) }),
  };
}

function announce(
  options: ServerOptions,
  dataDir: string,
  certificates: ClusterCertificates,
  progress: (message: string) => void,
): void {
  const address = isUnspecified(options.bindAddress) ? '127.0.0.1' : options.bindAddress;
  const url = `https://${isIPv6(address) ? `[${address}]` : address}:${options.securePort}`;
  const kubeconfig = join(dataDir, 'admin.kubeconfig');
  // An administrator of the authority that was made here is nobody to a server that trusts another one.
  if (options.clientCaFile === '') writeKubeconfig(kubeconfig, url, certificates);
  progress(`serving on ${url}`);
  process.stdout.write(
    options.clientCaFile === ''
      ? `\n  export KUBECONFIG=${kubeconfig} && kubectl get namespaces\n\n`
      : `\n  Clients need certificates signed by ${options.clientCaFile}; ${certificates.caFile} verifies this server.\n\n`,
  );
}

/** One line for each step, with the time since the start. */
function createProgress(): (message: string) => void {
  return (message) => {
    process.stdout.write(`${process.uptime().toFixed(1).padStart(6)}s  ${message}\n`);
  };
}
