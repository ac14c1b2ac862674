use super::*;

const ROLES: [Option<Role>; 4] = [None, Some(Role::Read), Some(Role::Write), Some(Role::Admin)];
const DEMANDS: [Demand; 11] = [
    Demand::Look,
    Demand::Inspect,
    Demand::Steer,
    Demand::SetRate,
    Demand::Record,
    Demand::Intervene,
    Demand::Administer,
    Demand::Erase,
    Demand::Operate,
    Demand::Create,
    Demand::Own,
];

fn access_of(role: Option<Role>) -> CallerAccess<'static> {
    CallerAccess { operator: false, restriction: RestrictionLevel::FullAccess, role, scopes: None }
}

/// One letter per demand: `.` allowed, `h` hidden, `p` permission, `o` operator only,
/// `r` restricted, `s` scope.
fn row(access: CallerAccess<'_>) -> String {
    let letter = |demand: &Demand| match decide(access, *demand) {
        Ok(()) => '.',
        Err(Denial::Hidden) => 'h',
        Err(Denial::Permission { .. }) => 'p',
        Err(Denial::OperatorOnly) => 'o',
        Err(Denial::Restricted { .. }) => 'r',
        Err(Denial::TooFar { .. }) => 'f',
        Err(Denial::Scope { .. }) => 's',
    };
    DEMANDS.iter().map(letter).collect()
}

#[test]
fn role_includes_all_lower_roles() {
    let rows = ROLES.map(|role| row(access_of(role)));
    assert_eq!(rows, ["hhhhhhhho..", "..ppppppo..", "......ppo..", "........o.."]);
    assert_eq!(row(CallerAccess { operator: true, ..access_of(None) }), "...........");
}

#[test]
fn restrictions_apply_before_roles_and_to_operators() {
    let rows =
        RestrictionLevel::ALL.map(|restriction| row(CallerAccess { restriction, ..access_of(Some(Role::Admin)) }));
    assert_eq!(rows, ["........o..", "...r.r..o..", "..rrrr.ror.", "r.rrrr.ror."]);
    let operator = CallerAccess { operator: true, restriction: RestrictionLevel::NoAccess, ..access_of(None) };
    assert_eq!(row(operator), "r.rrrr.r.r.");
    let stranger = CallerAccess { restriction: RestrictionLevel::NoAccess, ..access_of(None) };
    assert_eq!(row(stranger), "hhhhhhhhor.", "a restriction does not tell a stranger that the timeline exists");
}

#[test]
fn scopes_limit_a_key() {
    let rows = Scope::ALL.map(|scope| row(CallerAccess { operator: true, scopes: Some(&[scope]), ..access_of(None) }));
    assert_eq!(rows, ["..sssssssss", "......sss.s", "........s.s", "..........."]);
    assert_eq!(row(CallerAccess { operator: true, scopes: Some(&[]), ..access_of(None) }), "sssssssssss");
}

#[test]
fn limited_access_includes_the_edge_of_its_window() {
    let host = Instant::from_micros(1_000_000_000_000_000).unwrap();
    let day = 86_400_000_000;
    let at = |micros: i64| Instant::from_micros(host.micros() + micros).unwrap();
    let limited = RestrictionLevel::LimitedAccess;
    for (micros, allowed) in [(30 * day, true), (30 * day + 1, false), (-30 * day, true), (-30 * day - 1, false)] {
        assert_eq!(decide_moment(limited, at(micros), host, 30).is_ok(), allowed, "{micros}");
        assert!(decide_moment(RestrictionLevel::FullAccess, at(micros), host, 30).is_ok());
    }
}

#[test]
fn limited_access_rejects_fast_running_clocks_and_rate_changes() {
    let host = Instant::from_micros(1_000_000_000_000_000).unwrap();
    let (normal, twice) = (Rate::NORMAL, Rate::from_micros(2_000_000).unwrap());
    let clock = |days: i64, running, rate| {
        let at = Instant::from_micros(host.micros() + days * 86_400_000_000).unwrap();
        Moment { at, running, rate, location: None }
    };
    for (running, rate, before, allowed) in [
        (true, normal, normal, true),
        // Running at such a rate, the clock would eventually be too far from host time.
        (true, twice, twice, false),
        (true, twice, normal, false),
        // A stopped clock may keep its rate, but not change it.
        (false, twice, twice, true),
        (false, twice, normal, false),
        (false, normal, twice, false),
    ] {
        let decided = |level| decide_clock(level, &clock(1, running, rate), before, host, 30);
        let decision = decided(RestrictionLevel::LimitedAccess);
        assert_eq!(decision.is_ok(), allowed, "{running} {rate:?} {before:?}");
        assert!(matches!(decision, Ok(()) | Err(Denial::Restricted { .. })));
        assert_eq!(decided(RestrictionLevel::FullAccess), Ok(()));
    }
    let far = decide_clock(RestrictionLevel::LimitedAccess, &clock(31, true, normal), normal, host, 30);
    assert_eq!(far, Err(Denial::TooFar { window_days: 30 }));
}

#[test]
fn highest_role_of_a_user_applies() {
    let alice = UserId::new("alice").unwrap();
    let list = || BTreeSet::from([alice.clone()]);
    assert_eq!(Permissions::default().role(&alice, Instant::EPOCH), None);
    assert_eq!(Permissions { read: list(), ..Permissions::default() }.role(&alice, Instant::EPOCH), Some(Role::Read));
    assert_eq!(
        Permissions { read: list(), write: list(), ..Permissions::default() }.role(&alice, Instant::EPOCH),
        Some(Role::Write)
    );
    assert_eq!(Permissions::of_creator(alice.clone()).role(&alice, Instant::EPOCH), Some(Role::Admin));
}
