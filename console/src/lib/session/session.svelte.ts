/** The logged-in user. The session itself is an HttpOnly cookie. */
import { logout, service } from '../service/api';

export type RestrictionLevel = 'full_access' | 'limited_access' | 'read_only' | 'no_access';

/** Response of `GET /v1/session`. */
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
  /** Latest response of the service, or null. */
  body = $state<SessionBody | null>(null);
  /** Whether the session expired during use, which the login page reports. */
  hasExpired = $state(false);

  get user(): string | null {
    return this.body?.user_id ?? null;
  }

  get isOperator(): boolean {
    return this.body?.operator === true;
  }

  /** Requests the logged-in user. */
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

  forget(): void {
    if (this.body?.user_id) this.hasExpired = true;
    if (this.body) this.body = { ...this.body, user_id: null, operator: false, restriction_level: null };
  }
}

export const session = new Session();

logout.listener = () => session.forget();
