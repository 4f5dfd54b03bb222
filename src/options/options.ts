import { readAdmission } from './admission.ts';
import { readAgents } from './agents.ts';
import { ALL_FLAGS } from './all-flags.ts';
import { readApi } from './api.ts';
import { readAudit } from './audit.ts';
import { readAuthentication } from './authentication.ts';
import { readAuthorization } from './authorization.ts';
import { readClusterServices } from './cluster-services.ts';
import { readClusterSigning } from './cluster-signing.ts';
import { parseFlags } from './command-line.ts';
import { readLimits } from './limits.ts';
import { readObservability } from './observability.ts';
import { readProcess } from './process.ts';
import { readServing } from './serving.ts';
import { readStorage } from './storage.ts';
import { readTls } from './tls.ts';
import { readWriting } from './writing.ts';

/**
 * The options of a server, one object for each group of flags: checked once at the edge and trusted inside. Only the command line and
 * the composition root see all groups; everything else gets the groups it needs. Times are in milliseconds.
 */
export type ServerOptions = ReturnType<typeof parseOptions>;

/** @throws UsageError, one line that names the flag */
export function parseOptions(args: readonly string[]) {
  const line = parseFlags(args, ALL_FLAGS);
  const api = readApi(line);
  const gates = api.featureGates;
  const authorization = readAuthorization(line, gates);
  return Object.freeze({
    /** Serving threads read the same options from these. */
    args: Object.freeze([...args]),
    api,
    authorization,
    services: readClusterServices(line, gates.isEnabled),
    signing: readClusterSigning(line),
    authentication: readAuthentication(line, { gates, authorization }),
    admission: readAdmission(line, api.emulated),
    audit: readAudit(line),
    tls: readTls(line),
    process: readProcess(line),
    serving: readServing(line, gates),
    observability: readObservability(line, gates),
    storage: readStorage(line),
    agents: readAgents(line),
    writing: readWriting(line),
    limits: readLimits(line),
    /** All flags, for people who look at the server. */
    flags: line.texts(ALL_FLAGS),
  });
}
