use super::*;

const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

#[test]
fn a_log_is_a_key_and_perhaps_another_origin() {
    let read = |text: &str| text.parse::<KnownLog>();
    let log = read(KEY).unwrap();
    assert_eq!((log.origin.as_str(), log.key.to_string().as_str()), ("example.com/foo", KEY));
    assert_eq!(read(&format!("{KEY}=other log=1")).unwrap().origin, "other log=1");
    for wrong in
        [String::new(), format!("{KEY}="), format!("{KEY}=a\nb"), KEY.replace("530d", "530e"), "x=y".to_owned()]
    {
        read(&wrong).unwrap_err();
    }
    let of_witness = "witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
    assert!(read(of_witness).unwrap_err().contains("0x04"), "the key of a witness is none of a log");
}

#[test]
fn a_log_has_no_more_keys_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let log = |number: u8| {
        let key = VerifierKey::new("log.test", [number; 32]).unwrap();
        KnownLog { key, origin: "log.test".to_owned() }
    };
    let open = |count: u8| {
        let folder = WitnessFolder::open(folder.path()).unwrap();
        // One that is given twice counts once.
        let logs = (0..count).map(log).chain([log(0)]).collect();
        Witness::open(folder, None, logs).map(|witness| witness.logs_count()).map_err(|error| error.to_string())
    };
    assert_eq!(open(16), Ok(1));
    assert_eq!(open(17), Err("the log `log.test` can have at most 16 keys, not 17".to_owned()));
}
