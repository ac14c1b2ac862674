#![expect(clippy::too_many_lines, reason = "these are tables")]

use timenav_import::Format;

use super::Case;

pub(super) fn logs() -> Vec<Case> {
    vec![
        Case::new(
            "times of two widths",
            "2024-05-01 10:00:00 alpha started\n2024-05-01 10:00:01.250 beta started\n2024-05-01 10:00:02.5 gamma\n2024-05-01 10:00:03 delta\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01.25Z", "2024-05-01T10:00:02.5Z", "2024-05-01T10:00:03Z"],
            &["UTC"],
        ),
        Case::new(
            "fractions without zeros at their end",
            "2024-05-01T10:00:00.1Z alpha started\n2024-05-01T10:00:01.25Z beta\n2024-05-01T10:00:02.125Z gamma\n2024-05-01T10:00:05Z eta is here\n",
            &["2024-05-01T10:00:00.1Z", "2024-05-01T10:00:01.25Z", "2024-05-01T10:00:02.125Z", "2024-05-01T10:00:05Z"],
            &[],
        ),
        Case::new(
            "database in summer time",
            "2025-04-12 00:14:12.837 CEST [1329108] ERROR:  syntax error\n2025-04-12 00:14:13.001 CEST [1329108] LOG:  checkpoint starting: time\n",
            &["2025-04-11T22:14:12.837Z", "2025-04-11T22:14:13.001Z"],
            &["CEST"],
        ),
        Case::new(
            "database in UTC",
            "2025-04-12 00:14:12.837 UTC [1] LOG:  starting\n2025-04-12 00:14:13.001 UTC [1] LOG:  ready\n",
            &["2025-04-12T00:14:12.837Z", "2025-04-12T00:14:13.001Z"],
            &[],
        ),
        Case::new(
            "times in brackets",
            "[2023-05-15 18:19:32] local.ERROR: Target class\n[2023-05-15 18:19:33] local.INFO: ok\n",
            &["2023-05-15T18:19:32Z", "2023-05-15T18:19:33Z"],
            &["UTC"],
        ),
        Case::new(
            "Python",
            "2024-05-01 10:00:00,123 - app - INFO - started\n2024-05-01 10:00:00,456 - app - ERROR - failed\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:00.456Z"],
            &["UTC"],
        )
        .refused(3),
        Case::new(
            "level before the time",
            "INFO  [2024-05-01 10:00:00,123] org.example.Main: started\nWARN  [2024-05-01 10:00:01,456] org.example.Main: slow\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.456Z"],
            &["UTC"],
        ),
        Case::new(
            "Java's collector",
            "[2024-05-01T10:00:00.123+0000][info][gc] Using G1\n[2024-05-01T10:00:01.123+0000][info][gc] Pause\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.123Z"],
            &[],
        ),
        Case::new(
            "Go",
            "2024/05/01 10:00:00 listening on :8080\n2024/05/01 10:00:01 http: TLS handshake error\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &["UTC"],
        ),
        Case::new(
            "Go, with microseconds",
            "2024/05/01 10:00:00.123456 main.go:12: listening\n2024/05/01 10:00:01.000001 main.go:13: bye\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:01.000001Z"],
            &["UTC"],
        ),
        Case::new(
            "nginx errors",
            "2024/05/01 10:00:00 [error] 12#12: *1 open() failed, client: 203.0.113.9\n2024/05/01 10:00:01 [warn] 12#12: *2 buffered, client: 203.0.113.7\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &["UTC"],
        ),
        Case::new(
            "Apache errors",
            "[Wed Oct 11 14:32:52.127321 2023] [core:error] [pid 3] AH00126: Invalid URI\n[Wed Oct 11 14:32:53.000000 2023] [mpm:notice] [pid 3] AH00489: resuming\n",
            &["2023-10-11T14:32:52.127321Z", "2023-10-11T14:32:53Z"],
            &["UTC"],
        ),
        Case::new(
            "kernel",
            "[Wed May  1 10:00:00 2024] usb 1-1: new device\n[Wed May  1 10:00:01 2024] usb 1-1: gone\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &["UTC"],
        ),
        Case::new(
            "application server",
            "[pid: 7|app: 0|req: 1/1] 127.0.0.1 () {28 vars in 300 bytes} [Mon Mar  4 10:00:00 2024] GET / => generated 5 bytes\n\
             [pid: 7|app: 0|req: 2/2] 127.0.0.1 () {28 vars in 300 bytes} [Mon Mar  4 10:00:01 2024] GET /a => generated 7 bytes\n",
            &["2024-03-04T10:00:00Z", "2024-03-04T10:00:01Z"],
            &["UTC"],
        ),
        Case::new(
            "syslog without a year",
            "Oct 11 22:14:15 mymachine su[1]: failed\nOct  9 22:14:15 mymachine kernel: [ 1.2] boot\n",
            &["1970-10-11T22:14:15Z", "1970-10-09T22:14:15Z"],
            &["no year", "UTC"],
        ),
        Case::new(
            "syslog with a priority",
            "<34>Oct 11 22:14:15 mymachine su: failed\n<13>Oct 11 22:14:16 mymachine su: ok\n",
            &["1970-10-11T22:14:15Z", "1970-10-11T22:14:16Z"],
            &["no year"],
        ),
        Case::new(
            "syslog that says its version",
            "<34>1 2003-10-11T22:14:15.003Z mymachine su - ID47 - failed\n<165>1 2003-08-24T05:14:15.5-07:00 192.0.2.1 myproc 8710 - [a@1 b=\"c\"] time\n",
            &["2003-10-11T22:14:15.003Z", "2003-08-24T12:14:15.5Z"],
            &[],
        ),
        Case::new(
            "syslog with lines below lines",
            "May  1 10:00:00 mac a[1]: one\n\tmore\n\tmore\n\tmore\nMay  1 10:00:01 mac a[1]: two\n\tmore\n\tmore\n",
            &["1970-05-01T10:00:00Z", "1970-05-01T10:00:01Z"],
            &["no year"],
        )
        .refused(5),
        Case::new(
            "cluster",
            "I0501 10:00:00.123456       1 main.go:1] starting\nW0501 10:00:01.123456       1 main.go:2] slow\n",
            &["1970-05-01T10:00:00.123456Z", "1970-05-01T10:00:01.123456Z"],
            &["no year"],
        ),
        Case::new(
            "telephone",
            "05-01 10:00:00.123  1001  1002 I ActivityManager: start\n05-01 10:00:01.456  1001  1002 W Audio: slow\n",
            &["1970-05-01T10:00:00.123Z", "1970-05-01T10:00:01.456Z"],
            &["no year"],
        ),
        Case::new(
            "access log",
            "127.0.0.1 - - [29/Feb/2024:13:55:36 +0100] \"GET /a HTTP/1.0\" 200 2326\n::1 - frank [29/Feb/2024:13:55:37 -0700] \"GET / HTTP/1.1\" 404 -\n",
            &["2024-02-29T12:55:36Z", "2024-02-29T20:55:37Z"],
            &[],
        ),
        Case::new(
            "access log with a long request",
            concat!(
                "203.0.113.9 - - [22/Jan/2019:03:56:14 +0330] \"GET /short HTTP/1.1\" 200 512 \"-\" \"curl/8\"\n",
                "203.0.113.9 - - [22/Jan/2019:03:56:15 +0330] \"GET /xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                " HTTP/1.1\" 200 512 \"-\" \"curl/8\"\n",
            ),
            &["2019-01-22T00:26:14Z", "2019-01-22T00:26:15Z"],
            &[],
        ),
        Case::new(
            "access log of a storage service",
            "79a5 bucket [06/Feb/2024:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.GET.VERSIONING - \"GET /b?v HTTP/1.1\" 200 - 113\n\
             79a5 bucket [06/Feb/2024:00:00:39 +0000] 192.0.2.3 79a5 891C REST.GET.LOGGING - \"GET /b?l HTTP/1.1\" 200 - 242\n",
            &["2024-02-06T00:00:38Z", "2024-02-06T00:00:39Z"],
            &[],
        ),
        Case::new(
            "load balancer",
            "https 2024-05-01T10:00:00.186641Z app/lb/50dc 192.168.131.39:2817 10.0.0.1:80 0.0 200 \"GET https://a/ HTTP/1.1\"\n\
             https 2024-05-01T10:00:01.186641Z app/lb/50dc 192.168.131.39:2818 10.0.0.1:80 0.0 200 \"GET https://b/ HTTP/1.1\"\n",
            &["2024-05-01T10:00:00.186641Z", "2024-05-01T10:00:01.186641Z"],
            &[],
        ),
        Case::new(
            "W3C",
            "#Software: IIS\n#Version: 1.0\n#Date: 2015-01-13 00:32:17\n#Fields: date time s-ip cs-method cs-uri-stem c-ip sc-status\n\
             2015-01-13 00:32:17 198.51.100.1 GET /robots.txt 203.0.113.9 404\n2015-01-13 00:32:18 198.51.100.1 GET / 203.0.113.9 200\n",
            &["2015-01-13T00:32:17Z", "2015-01-13T00:32:18Z"],
            &["UTC"],
        ),
        Case::new(
            "W3C with tabs",
            "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip\n2024-05-01\t10:00:00\tLAX1\t2390282\t192.0.2.202\n2024-05-01\t10:00:02\tLAX1\t2390\t192.0.2.203\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:02Z"],
            &["UTC"],
        ),
        Case::new(
            "network monitor",
            "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n#open\t2024-05-01-10-00-00\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tproto\n#types\ttime\tstring\taddr\tport\tenum\n\
             1714557600.123456\tCx1\t192.0.2.1\t1234\ttcp\n1714557601.5\tCx2\t192.0.2.1\t1235\tudp\n#close\t2024-05-01-11-00-00\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:01.5Z"],
            &["1970"],
        ),
        Case::new(
            "proxy",
            "1714557600.123    456 10.0.0.1 TCP_MISS/200 1024 GET http://a.example/ - HIER_DIRECT/192.0.2.1 text/html\n\
             1714557601.456     12 10.0.0.2 TCP_HIT/200 512 GET http://b.example/ - HIER_NONE/- text/css\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.456Z"],
            &["1970"],
        ),
        Case::new(
            "packets",
            "2024-05-01 10:00:00.123456 IP 192.0.2.1.443 > 192.0.2.2.5000: Flags [P.]\n2024-05-01 10:00:00.200001 IP 192.0.2.2.5000 > 192.0.2.1.443: Flags [.]\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:00.200001Z"],
            &["UTC"],
        ),
        Case::new(
            "messages of a chat",
            "13/05/2024, 10:00 - Ada: Good morning\n13/05/2024, 10:01 - Bob: Hi, all\n14/05/2024, 09:30 - Ada: Bye\n",
            &["2024-05-13T10:00:00Z", "2024-05-13T10:01:00Z", "2024-05-14T09:30:00Z"],
            &["UTC"],
        ),
        Case::new(
            "Rust",
            "2024-05-01T10:00:00.123456Z  INFO app: listening addr=127.0.0.1:80\n2024-05-01T10:00:01.000001Z ERROR app::db: lost\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:01.000001Z"],
            &[],
        ),
        Case::new(
            "Tomcat",
            "01-May-2024 10:00:00.123 INFO [main] org.apache.Startup.start Server startup\n01-May-2024 10:00:01.456 WARNING [main] org.apache.Web.x slow\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.456Z"],
            &["UTC"],
        ),
        Case::new(
            "years of two digits first",
            "17/06/09 20:10:40 INFO executor.Backend: Registered\n17/06/10 20:10:41 INFO spark.Manager: Changing\n",
            &["2017-06-09T20:10:40Z", "2017-06-10T20:10:41Z"],
            &["UTC", "two digits"],
        ),
        Case::new(
            "a file's name before the time",
            "nova-api.log.1 2017-05-16 00:00:00.008 25746 INFO nova [req-38101a0b] GET /v2\nnova-api.log.1 2017-05-16 00:00:00.272 25746 INFO nova [req-9bc36dd9] GET /v2\n",
            &["2017-05-16T00:00:00.008Z", "2017-05-16T00:00:00.272Z"],
            &["UTC"],
        ),
        Case::new(
            "times of a day alone",
            "10:00:00 started\n10:00:01 stopped\n",
            &[],
            &["no time was recognized"],
        ),
    ]
}

pub(super) fn logs_of_json() -> Vec<Case> {
    vec![
        Case::new(
            "pairs, one of them a time that few records have",
            "logger=settings t=2025-04-24T19:51:48.520963849Z level=info msg=\"Starting\" version=11 compiled=2025-04-20T19:51:48Z\n\
             logger=settings t=2025-04-24T19:51:48.521238594Z level=info msg=\"Config loaded from\"\nlogger=settings t=2025-04-24T19:51:48.521250594Z level=info msg=\"Target\"\n",
            &["2025-04-24T19:51:48.520963Z", "2025-04-24T19:51:48.521238Z", "2025-04-24T19:51:48.52125Z"],
            &[],
        ),
        Case::new(
            "pairs",
            "ts=2024-07-20T20:17:40Z level=info msg=\"a b\"\nts=2024-07-20T20:17:41Z level=warn msg=c\n",
            &["2024-07-20T20:17:40Z", "2024-07-20T20:17:41Z"],
            &[],
        ),
        Case::new(
            "Node.js",
            "{\"level\":30,\"time\":1721506660123,\"msg\":\"a\",\"span_id\":\"s1\"}\n{\"level\":30,\"time\":1721506660124,\"msg\":\"b\",\"span_id\":\"s2\"}\n",
            &["2024-07-20T20:17:40.123Z", "2024-07-20T20:17:40.124Z"],
            &["1970"],
        ),
        Case::new(
            "seconds with a fraction",
            "{\"level\":\"info\",\"ts\":1721506660.123,\"caller\":\"a.go:1\",\"msg\":\"a\"}\n{\"level\":\"info\",\"ts\":1721506661.5,\"caller\":\"a.go:2\",\"msg\":\"b\"}\n",
            &["2024-07-20T20:17:40.123Z", "2024-07-20T20:17:41.5Z"],
            &["1970"],
        ),
        Case::new(
            "common schema",
            "{\"@timestamp\":\"2024-05-01T10:00:00.123Z\",\"log.level\":\"info\",\"message\":\"a\",\"log\":{\"origin\":{\"file\":{\"name\":\"a.py\"}}},\"event\":{\"created\":\"2024-05-01T10:00:09Z\"}}\n\
             {\"@timestamp\":\"2024-05-01T10:00:01.123Z\",\"log.level\":\"info\",\"message\":\"b\",\"log\":{\"origin\":{\"file\":{\"name\":\"a.py\"}}}}\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.123Z"],
            &[],
        ),
        Case::new(
            "journal",
            "{\"__REALTIME_TIMESTAMP\":\"1714557600123456\",\"MESSAGE\":\"a\",\"PRIORITY\":\"6\",\"_PID\":\"1\"}\n{\"__REALTIME_TIMESTAMP\":\"1714557601123456\",\"MESSAGE\":\"b\",\"PRIORITY\":\"6\",\"_PID\":\"1\"}\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:01.123456Z"],
            &["1970"],
        ),
        Case::new(
            "document database",
            "{\"t\":{\"$date\":\"2024-05-01T10:00:00.123+00:00\"},\"s\":\"I\",\"c\":\"NETWORK\",\"id\":22943,\"ctx\":\"listener\",\"msg\":\"a\"}\n\
             {\"t\":{\"$date\":\"2024-05-01T10:00:01.123+00:00\"},\"s\":\"I\",\"c\":\"NETWORK\",\"id\":51800,\"ctx\":\"conn1\",\"msg\":\"b\"}\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:01.123Z"],
            &[],
        ),
        Case::new(
            "containers",
            "{\"log\":\"a\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-01T10:00:00.123456789Z\"}\n{\"log\":\"b\\n\",\"stream\":\"stderr\",\"time\":\"2024-05-01T10:00:01.5Z\"}\n",
            &["2024-05-01T10:00:00.123456Z", "2024-05-01T10:00:01.5Z"],
            &[],
        ),
        Case::new(
            "extended log format",
            "{\"version\":\"1.1\",\"host\":\"a\",\"short_message\":\"x\",\"timestamp\":1714557600.3072,\"level\":1}\n{\"version\":\"1.1\",\"host\":\"a\",\"short_message\":\"y\",\"timestamp\":1714557601.5,\"level\":1}\n",
            &["2024-05-01T10:00:00.3072Z", "2024-05-01T10:00:01.5Z"],
            &["1970"],
        ),
        Case::new(
            "traces of a collector, by the name of their file records",
            "{\"resourceLogs\":[{\"resource\":{},\"scopeLogs\":[{\"scope\":{},\"logRecords\":[{\"timeUnixNano\":\"1700000000000000000\",\"body\":{\"stringValue\":\"a\"}}]}]}]}\n\
             {\"resourceLogs\":[{\"resource\":{},\"scopeLogs\":[{\"scope\":{},\"logRecords\":[{\"timeUnixNano\":\"1700000001000000000\",\"body\":{\"stringValue\":\"b\"}}]}]}]}\n",
            &["2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"],
            &[],
        )
        .named_as(Format::Ndjson),
        Case::new(
            "messages of a workspace",
            "[{\"type\":\"message\",\"user\":\"U1\",\"ts\":\"1714557600.000100\",\"text\":\"a\"},{\"type\":\"message\",\"user\":\"U2\",\"ts\":\"1714557601.000200\",\"text\":\"b\"}]",
            &["2024-05-01T10:00:00.0001Z", "2024-05-01T10:00:01.0002Z"],
            &["1970"],
        ),
        Case::new(
            "records of this service",
            "{\"time\":\"2024-07-20T20:17:40Z\",\"name\":\"a\"}\n{\"time\":\"2024-07-20T20:17:41Z\",\"name\":\"b\"}\n",
            &["2024-07-20T20:17:40Z", "2024-07-20T20:17:41Z"],
            &[],
        )
        .named_as(Format::Ndjson),
    ]
}
