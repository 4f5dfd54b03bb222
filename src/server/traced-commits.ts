import type { Tracing } from '../observability/tracing.ts';
import type { Committer } from '../storage/revision-log.ts';

/** A span for each write's way into the log, the wait for its batch included. */
export const traceCommits = (committer: Committer, tracing: Tracing): Committer => ({
  commit: (write) => {
    const { verb, key } = write;
    const attributes = {
      'k8s.group': key.group,
      'k8s.resource': key.resource,
      'pg_apiserver.write.verb': verb,
      'pg_apiserver.write.size_bytes': write.json.length,
    };
    return tracing.part('Commit', attributes, () => committer.commit(write));
  },
});
