/**
 * Who is logged in. The session itself is a cookie that no script can read.
 */
import { onLoggedOut, service, serviceWithKey } from '../service/api';

export type RestrictionLevel = 'full_access' | 'limited_access' | 'read_only' | 'no_access';

/** What `GET /v1/session` answers. */
interface SessionBody {
  user_id: string | null;
  operator: boolean;
  restriction_level: RestrictionLevel | null;
  is_first_run: boolean;
  version?: string;
  service_name?: string;
  session_id?: string;
  idle_expires_at?: string;
  expires_at?: string;
}

class Session {
  /** What the service told last; null until it did. */
  body = $state<SessionBody | null>(null);
  /** Whether a session ended while somebody worked: the log-in page says so. */
  hasExpired = $state(false);

  get user(): string | null {
    return this.body?.user_id ?? null;
  }

  get isOperator(): boolean {
    return this.body?.operator === true;
  }

  /** Asks the service who is logged in. */
  async read(): Promise<void> {
    const before = this.user;
    this.body = (await service.session()) as SessionBody;
    if (before !== null && this.user === null) this.hasExpired = true;
  }

  async logIn(userId: string, password: string): Promise<void> {
    this.body = (await service.logIn({ user_id: userId, password })) as SessionBody;
    this.hasExpired = false;
  }

  async logOut(everywhere: boolean): Promise<void> {
    await service.logOut({ everywhere });
    this.forget();
    this.hasExpired = false;
  }

  /** Sets a password with an API key of one's own, for the first log-in. */
  async setFirstPassword(apiKey: string, password: string): Promise<void> {
    await serviceWithKey(apiKey).setPassword({ password });
  }

  forget(): void {
    if (this.body?.user_id) this.hasExpired = true;
    if (this.body) this.body = { ...this.body, user_id: null, operator: false, restriction_level: null };
  }
}

export const session = new Session();

onLoggedOut(() => session.forget());
