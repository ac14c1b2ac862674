#![expect(clippy::too_many_lines, reason = "these are tables")]

use std::borrow::Cow;

use timenav_import::Format;

use super::Case;

pub(super) fn tables() -> Vec<Case> {
    vec![
        Case::new(
            "timestamps in UTC",
            "id,timestamp,title\n1,2024-07-20T20:17:40Z,a\n2,2024-07-20T20:18:40Z,b\n",
            &["2024-07-20T20:17:40Z", "2024-07-20T20:18:40Z"],
            &[],
        ),
        Case::new(
            "timestamps without a zone",
            "Order ID;Created at;Status\nA-1;2024-07-20 20:17:40;paid\nA-2;2024-07-20 20:18:40;open\n",
            &["2024-07-20T20:17:40Z", "2024-07-20T20:18:40Z"],
            &["UTC"],
        ),
        Case::new(
            "kick-offs: date and time without a zone",
            "date,time,home,away\n2010-08-14,12:45,Tottenham,Manchester City\n2010-08-14,15:00,Wigan,Blackpool\n",
            &["2010-08-14T12:45:00Z", "2010-08-14T15:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "date and time with an offset",
            "date,time,what\n2010-08-14,12:45:00+01:00,a\n2010-08-14,15:00:00+01:00,b\n",
            &["2010-08-14T11:45:00Z", "2010-08-14T14:00:00Z"],
            &[],
        ),
        Case::new(
            "weather station: five columns for the time",
            "year,month,day,hour,minute,temp\n2024,2,29,23,50,4.1\n2024,3,1,0,0,4.0\n",
            &["2024-02-29T23:50:00Z", "2024-03-01T00:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "empty column before the year, with the same word",
            "Volcano Name,Start Year Modifier,Start Year,Start Year Uncertainty,Start Month,Start Day Modifier,Start Day,Latitude,Longitude\n\
             Ambae,,2024,,6,,29,-15.389,167.835\nKarymsky,>,2023,,6,,20,54.049,159.443\nEtna,,-1500,,,,,37.748,14.999\n",
            &[
                "2024-06-29T00:00:00Z @-15.389,167.835",
                "2023-06-20T00:00:00Z @54.049,159.443",
                "-001499-01-01T00:00:00Z @37.748,14.999",
            ],
            &["BCE"],
        ),
        Case::new(
            "archive of earthquakes",
            "\"Search Parameters\"\t\"Year\"\t\"Mo\"\t\"Dy\"\t\"Hr\"\t\"Mn\"\t\"Sec\"\t\"Location Name\"\t\"Latitude\"\t\"Longitude\"\n\
             \"[]\"\t\t\t\t\t\t\t\t\t\n\"\"\t-2150\t\t\t\t\t\t\"JORDAN\"\t31.1\t35.5\n\"\"\t1906\t4\t18\t13\t12\t21.0\t\"SAN FRANCISCO\"\t37.67\t-122.48\n",
            &["-002149-01-01T00:00:00Z @31.1,35.5", "1906-04-18T13:12:21Z @37.67,-122.48"],
            &["BCE", "UTC"],
        ),
        Case::new(
            "table without names, with commas",
            "2024-05-01T10:00:00Z,a,1\n2024-05-01T10:00:01Z,b,2\n2024-05-01T10:00:02Z,c,3\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", "2024-05-01T10:00:02Z"],
            &["first row"],
        ),
        Case::new(
            "table without names, with tabs and seconds since 1970",
            "17\t1714557600\tlogin\n18\t1714557601\tlogout\n19\t1714557602\tlogin\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", "2024-05-01T10:00:02Z"],
            &["first row", "1970"],
        ),
        Case::new(
            "table without names, with days",
            "Lviv;24.02.2022;12\nKharkiv;25.02.2022;7\nOdesa;01.03.2022;3\n",
            &["2022-02-24T00:00:00Z", "2022-02-25T00:00:00Z", "2022-03-01T00:00:00Z"],
            &["first row"],
        ),
        Case::new(
            "title lines above the table",
            "Monthly report\n\nDate,Amount,Payee\n2024-01-31,12.50,Bakery\n2024-02-01,8.00,Kiosk\n",
            &["2024-01-31T00:00:00Z", "2024-02-01T00:00:00Z"],
            &[],
        ),
        Case::new(
            "spreadsheet says what is between columns",
            "sep=;\ntime;what\n2024-05-01T10:00:00Z;a\n2024-05-01T10:00:01Z;b\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &[],
        ),
        Case::new(
            "comments above the table",
            "# station 12\n# units: mm\nwhen,rain\n2024-05-01T10:00Z,1\n2024-05-01T11:00Z,0\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T11:00:00Z"],
            &[],
        ),
        Case::new(
            "a row of units below the names",
            "SID,ISO_TIME,LAT,LON\n , ,degrees_north,degrees_east\nA,1842-10-25 03:00:00,10.9,80.3\nA,1842-10-25 06:00:00,10.9,79.8\n",
            &["1842-10-25T03:00:00Z @10.9,80.3", "1842-10-25T06:00:00Z @10.9,79.8"],
            &["skip_rows", "UTC"],
        ),
        Case::new(
            "short rows",
            "version,series,created,release,eol\n1.1,buzz,1993-08-16,1996-06-17\n13,trixie,2023-06-10,2025-08-09,2028-08-09\n",
            &["1993-08-16T00:00:00Z", "2023-06-10T00:00:00Z"],
            &[],
        ),
        Case::new(
            "a change comes before the creation",
            "key,updated_at,created_at\na,2024-05-03T10:00:00Z,2024-05-01T10:00:00Z\nb,2024-05-04T10:00:00Z,2024-05-02T10:00:00Z\n",
            &["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"],
            &[],
        ),
        Case::new(
            "a time of upload beside the date of the event",
            "event_id_cnty,event_date,latitude,longitude,timestamp\nUKR1,01 May 2024,50.45,30.52,1714600000\nUKR2,02 May 2024,49.84,24.03,1714600001\n",
            &["2024-05-01T00:00:00Z @50.45,30.52", "2024-05-02T00:00:00Z @49.84,24.03"],
            &["`timestamp` holds times too"],
        ),
        Case::new(
            "only the time of a change",
            "key;updated\na;13.05.2024\nb;14.05.2024\n",
            &["2024-05-13T00:00:00Z", "2024-05-14T00:00:00Z"],
            &[],
        ),
        Case::new(
            "most records lack the first time",
            "id,reviewed time,date\n1,,2024-05-01\n2,,2024-05-02\n3,2024-06-01,2024-05-03\n",
            &["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z", "2024-05-03T00:00:00Z"],
            &[],
        ),
        Case::new(
            "long titles",
            concat!(
                "date,title\n2024-05-01,short\n2024-05-02,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
                "2024-05-03,a\n2024-05-04,b\n2024-05-05,c\n2024-05-06,d\n2024-05-07,e\n2024-05-08,f\n2024-05-09,g\n2024-05-10,h\n2024-05-11,i\n",
            ),
            &[
                "2024-05-01T00:00:00Z",
                "2024-05-02T00:00:00Z",
                "2024-05-03T00:00:00Z",
                "2024-05-04T00:00:00Z",
                "2024-05-05T00:00:00Z",
                "2024-05-06T00:00:00Z",
                "2024-05-07T00:00:00Z",
                "2024-05-08T00:00:00Z",
                "2024-05-09T00:00:00Z",
                "2024-05-10T00:00:00Z",
                "2024-05-11T00:00:00Z",
            ],
            &[],
        ),
        Case {
            file: Cow::Borrowed(b"name,year,month,day\nAbu,1950,7,16\nCayut\xED,1951,8,1\nAca,1952,9,2\n"),
            ..Case::new(
                "text of Windows",
                "",
                &["1950-07-16T00:00:00Z", "1951-08-01T00:00:00Z", "1952-09-02T00:00:00Z"],
                &["windows-1252"],
            )
        },
        Case::new("no time at all", "a,b\n1,2\n3,4\n", &[], &["no time was recognized"]),
        Case::new(
            "columns by days, values below",
            "Country,Lat,Long,1/22/20,1/23/20\nSpain,40.4,-3.7,0,1\nItaly,41.9,12.5,2,3\n",
            &[],
            &["no time was recognized"],
        ),
        Case::new(
            "daily prices",
            "Date,Open,High,Low,Close,Volume\n2024-05-01,1.5,2,1,1.75,9000\n2024-05-02,1.75,2.5,1.5,2,8000\n",
            &["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"],
            &[],
        ),
        Case::new(
            "measurements, with a number for what is not known",
            "datetime,wind\n2024-05-01T00:00:00Z,12\n2024-05-01T01:00:00Z,-999\n2024-05-01T02:00:00Z,14\n",
            &["2024-05-01T00:00:00Z", "2024-05-01T01:00:00Z", "2024-05-01T02:00:00Z"],
            &["-999"],
        ),
        Case::new(
            "a pipe between columns",
            "event_time|user|action\n2024-05-01 10:00:00+02:00|ada|login\n2024-05-01 10:00:01+02:00|bob|login\n",
            &["2024-05-01T08:00:00Z", "2024-05-01T08:00:01Z"],
            &[],
        ),
    ]
}

pub(super) fn places() -> Vec<Case> {
    vec![
        Case::new(
            "0,0, the equator and the prime meridian",
            "id,date,name,latitude,longitude\n1,2001-01-01,nowhere known,0,0\n2,2002-02-02,on the equator,0,35.66667\n\
             3,2003-03-03,Greenwich,51.4779,0\n4,2004-04-04,Bern,46.948,7.4474\n",
            &[
                "2001-01-01T00:00:00Z",
                "2002-02-02T00:00:00Z @0,35.66667",
                "2003-03-03T00:00:00Z @51.4779,0",
                "2004-04-04T00:00:00Z @46.948,7.4474",
            ],
            &["0,0"],
        ),
        Case::new(
            "the equator without 0,0",
            "date,lat,lon\n2002-02-02,0,35.66667\n2003-03-03,51.4779,0\n",
            &["2002-02-02T00:00:00Z @0,35.66667", "2003-03-03T00:00:00Z @51.4779,0"],
            &[],
        ),
        Case::new(
            "0,0 in one column",
            "name,id,year,GeoLocation\nAachen,1,1880,\"(50.775, 6.08333)\"\nMason Gully,53653,2010,\"(0.0, 0.0)\"\n",
            &["1880-01-01T00:00:00Z @50.775,6.08333", "2010-01-01T00:00:00Z"],
            &["0,0"],
        ),
        Case::new(
            "words for coordinates inside of words",
            "name,year,reclat,reclong\nAachen,1880,50.775,6.08333\nAarhus,1951,56.18333,10.23333\n",
            &["1880-01-01T00:00:00Z @50.775,6.08333", "1951-01-01T00:00:00Z @56.18333,10.23333"],
            &[],
        ),
        Case::new(
            "two places",
            "started_at,start_lat,start_lng,end_lat,end_lng\n2024-05-01T10:00:00Z,41.88,-87.62,41.9,-87.63\n2024-05-01T11:00:00Z,41.89,-87.61,41.91,-87.64\n",
            &["2024-05-01T10:00:00Z @41.88,-87.62", "2024-05-01T11:00:00Z @41.89,-87.61"],
            &[],
        ),
        Case::new(
            "two places, the end first",
            "end_lng,end_lat,start_lng,start_lat,time\n-87.63,41.9,-87.62,41.88,2024-05-01T10:00:00Z\n-87.64,41.91,-87.61,41.89,2024-05-01T11:00:00Z\n",
            &["2024-05-01T10:00:00Z @41.88,-87.62", "2024-05-01T11:00:00Z @41.89,-87.61"],
            &[],
        ),
        Case::new(
            "pixels are no place",
            "time,x,y,button\n2024-05-01T10:00:00Z,512,300,left\n2024-05-01T10:00:01Z,80,45,left\n2024-05-01T10:00:02Z,17,60,left\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", "2024-05-01T10:00:02Z"],
            &[],
        ),
        Case::new(
            "metres are no place",
            "date,lat,lon\n2024-05-01,5411230.5,3450122.1\n2024-05-02,5411231.5,3450123.1\n",
            &["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"],
            &["no place"],
        ),
        Case::new(
            "points of a query service, longitude first",
            "item,itemLabel,date,coord\nQ1,Battle,1944-06-06T00:00:00Z,Point(-0.88 49.34)\nQ2,Landing,1969-07-20T20:17:40Z,Point(23.47 0.67)\n",
            &["1944-06-06T00:00:00Z @49.34,-0.88", "1969-07-20T20:17:40Z @0.67,23.47"],
            &[],
        ),
        Case::new(
            "well-known text in a column of any name",
            "date,shape\n2024-05-01,POINT (2.3522 48.8566)\n2024-05-02,POINT (13.405 52.52)\n",
            &["2024-05-01T00:00:00Z @48.8566,2.3522", "2024-05-02T00:00:00Z @52.52,13.405"],
            &[],
        ),
        Case::new(
            "decimal commas",
            "zeit;lat;lon\n2024-01-02T03:04:05Z;48,8566;2,3522\n2024-01-02T03:04:05Z;-33,8688;151,2093\n",
            &["2024-01-02T03:04:05Z @48.8566,2.3522", "2024-01-02T03:04:05Z @-33.8688,151.2093"],
            &[],
        ),
        Case::new(
            "degrees with sides",
            "date,time,lat,lon,name\n19450716,112945.0,33.675N,106.475W,TRINITY\n19460630,220034.2,11.59N,165.500E,ABLE\n",
            &["1945-07-16T11:29:45Z @33.675,-106.475", "1946-06-30T22:00:34.2Z @11.59,165.5"],
            &["UTC"],
        ),
        Case::new(
            "biological records",
            "gbifID\teventDate\tdecimalLatitude\tdecimalLongitude\tscientificName\n1\t2019-05-01\t-33.1\t18.4\tProtea\n2\t2019-06-01\t-34.2\t18.5\tErica\n",
            &["2019-05-01T00:00:00Z @-33.1,18.4", "2019-06-01T00:00:00Z @-34.2,18.5"],
            &[],
        ),
        Case::new(
            "a city and its state",
            "Date,City,State,Shape\n2004-07-04,Salem,OR,disk\n2005-07-04,Salem,MA,light\n",
            &["2004-07-04T00:00:00Z in Salem, OR", "2005-07-04T00:00:00Z in Salem, MA"],
            &[],
        ),
        Case::new(
            "a latitude without a longitude",
            "date,lat,depth\n2004-07-04,47.2,3\n2005-07-04,48.1,4\n",
            &["2004-07-04T00:00:00Z", "2005-07-04T00:00:00Z"],
            &["no place"],
        ),
        Case::new(
            "earthquakes of an agency",
            "time,latitude,longitude,depth,mag,id,updated,place\n2018-02-01T00:01:02.123Z,38.8,-122.8,2.1,0.9,nc1,2018-02-02T00:00:00Z,\"5km NW of The Geysers, CA\"\n\
             2018-02-01T00:02:02.5Z,60.1,-153.2,100,2.1,ak2,2018-02-03T00:00:00Z,\"Alaska\"\n",
            &["2018-02-01T00:01:02.123Z @38.8,-122.8", "2018-02-01T00:02:02.5Z @60.1,-153.2"],
            &[],
        ),
        Case::new(
            "nuclear tests, 0,0 for what is not known",
            "WEAPON SOURCE COUNTRY,Location.Cordinates.Latitude,Location.Cordinates.Longitude,Data.Name,Date.Day,Date.Month,Date.Year\n\
             USA,32.54,-105.57,Trinity,16,7,1945\nUSSR,0.0,0.0,Nan,29,8,1949\n",
            &["1945-07-16T00:00:00Z @32.54,-105.57", "1949-08-29T00:00:00Z"],
            &["0,0"],
        ),
    ]
}

pub(super) fn ends() -> Vec<Case> {
    vec![
        Case::new(
            "school holidays",
            "\u{FEFF}Id;StartDate;EndDate;Name\n644e;2011-12-27;2012-01-05;Weihnachtsferien\nbf32;2012-02-20;2012-02-24;Winterferien\n",
            &["2011-12-27T00:00:00Z/2012-01-05T00:00:00Z", "2012-02-20T00:00:00Z/2012-02-24T00:00:00Z"],
            &["EndDate"],
        ),
        Case::new(
            "the end comes first",
            "end_time,start_time,what\n2024-05-01T11:00:00Z,2024-05-01T10:00:00Z,a\n2024-05-01T12:30:00Z,2024-05-01T12:00:00Z,b\n",
            &["2024-05-01T10:00:00Z/2024-05-01T11:00:00Z", "2024-05-01T12:00:00Z/2024-05-01T12:30:00Z"],
            &[],
        ),
        Case::new(
            "reigns",
            "name,reign.start,reign.end\nAugustus,0026-01-16,0014-08-19\nTiberius,0014-09-18,0037-03-16\nCaligula,0037-03-18,0041-01-24\nClaudius,0041-01-25,0054-10-13\n\
             Nero,0054-10-13,0068-06-09\nGalba,0068-06-08,0069-01-15\nOtho,0069-01-15,0069-04-16\nVitellius,0069-04-17,0069-12-20\nVespasian,0069-12-21,0079-06-24\n\
             Titus,0079-06-24,0081-09-13\n",
            &[
                "0026-01-16T00:00:00Z/0014-08-19T00:00:00Z",
                "0014-09-18T00:00:00Z/0037-03-16T00:00:00Z",
                "0037-03-18T00:00:00Z/0041-01-24T00:00:00Z",
                "0041-01-25T00:00:00Z/0054-10-13T00:00:00Z",
                "0054-10-13T00:00:00Z/0068-06-09T00:00:00Z",
                "0068-06-08T00:00:00Z/0069-01-15T00:00:00Z",
                "0069-01-15T00:00:00Z/0069-04-16T00:00:00Z",
                "0069-04-17T00:00:00Z/0069-12-20T00:00:00Z",
                "0069-12-21T00:00:00Z/0079-06-24T00:00:00Z",
                "0079-06-24T00:00:00Z/0081-09-13T00:00:00Z",
            ],
            &["reign.end"],
        ),
        Case::new(
            "eruptions, with an end in parts",
            "Volcano Name,Start Year,Start Month,Start Day,End Year,End Month,End Day\nAmbae,2024,6,29,2024,6,30\nKarymsky,2024,6,20,2024,8,16\nEtna,2022,5,12,,,\n",
            &[
                "2024-06-29T00:00:00Z/2024-06-30T00:00:00Z",
                "2024-06-20T00:00:00Z/2024-08-16T00:00:00Z",
                "2022-05-12T00:00:00Z",
            ],
            &["End Year"],
        ),
        Case::new(
            "jobs, in seconds since 1970",
            "job,started,finished\na,1714557600,1714557660\nb,1714557700,1714557705\n",
            &["2024-05-01T10:00:00Z/2024-05-01T10:01:00Z", "2024-05-01T10:01:40Z/2024-05-01T10:01:45Z"],
            &["1970"],
        ),
        Case::new(
            "working hours without a zone",
            "task;begin;end\nwrite;01.05.2024 09:00;01.05.2024 12:30\nread;13.05.2024 13:00;13.05.2024 17:00\n",
            &["2024-05-01T09:00:00Z/2024-05-01T12:30:00Z", "2024-05-13T13:00:00Z/2024-05-13T17:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "appointments of an office",
            "Subject,Start Date,Start Time,End Date,End Time\nTeam,5/13/2024,9:00:00 AM,5/13/2024,10:30:00 AM\nLunch,5/14/2024,12:00:00 PM,5/14/2024,1:00:00 PM\n",
            &["2024-05-13T09:00:00Z/2024-05-13T10:30:00Z", "2024-05-14T12:00:00Z/2024-05-14T13:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "lives",
            "name,birth_date,death_date\nAda,1815-12-10,1852-11-27\nAlan,1912-06-23,1954-06-07\n",
            &["1815-12-10T00:00:00Z/1852-11-27T00:00:00Z", "1912-06-23T00:00:00Z/1954-06-07T00:00:00Z"],
            &["death_date"],
        ),
        Case::new(
            "rides",
            "pickup_datetime,dropoff_datetime,pickup_longitude,pickup_latitude,dropoff_longitude,dropoff_latitude\n\
             2016-01-01 00:00:00,2016-01-01 00:10:00,-73.99,40.73,-73.98,40.72\n2016-01-01 00:01:00,2016-01-01 00:20:00,-73.95,40.75,-73.97,40.7\n",
            &[
                "2016-01-01T00:00:00Z/2016-01-01T00:10:00Z @40.73,-73.99",
                "2016-01-01T00:01:00Z/2016-01-01T00:20:00Z @40.75,-73.95",
            ],
            &["UTC"],
        ),
        Case::new(
            "storms, with times in other columns too",
            "BEGIN_DAY,BEGIN_TIME,END_DAY,END_TIME,YEAR,MONTH_NAME,BEGIN_DATE_TIME,END_DATE_TIME\n\
             1,1000,1,1030,2024,May,01-MAY-24 10:00:00,01-MAY-24 10:30:00\n2,1400,2,1430,2024,May,02-MAY-24 14:00:00,02-MAY-24 14:30:00\n",
            &["2024-05-01T10:00:00Z/2024-05-01T10:30:00Z", "2024-05-02T14:00:00Z/2024-05-02T14:30:00Z"],
            &["UTC", "two digits"],
        ),
        Case::new(
            "a stop",
            "start,stop,line\n2024-05-01T10:00:00Z,2024-05-01T10:05:00Z,4\n2024-05-01T11:00:00Z,2024-05-01T11:07:00Z,4\n",
            &["2024-05-01T10:00:00Z/2024-05-01T10:05:00Z", "2024-05-01T11:00:00Z/2024-05-01T11:07:00Z"],
            &[],
        ),
        Case::new(
            "what ends is no time",
            "time,end\n2024-05-01T10:00:00Z,north\n2024-05-01T11:00:00Z,south\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T11:00:00Z"],
            &[],
        ),
    ]
}

pub(super) fn dates() -> Vec<Case> {
    vec![
        Case::new(
            "the day first, as one date tells",
            "when,n\n28/02/2024 13:05,1\n01/03/2024 00:00,2\n",
            &["2024-02-28T13:05:00Z", "2024-03-01T00:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "the month first, as one date tells",
            "date,n\n02/28/2024,1\n03/01/2024,2\n",
            &["2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z"],
            &[],
        ),
        Case::new(
            "nothing tells which number is the month",
            "date,n\n01/02/2024,1\n03/04/2024,2\n",
            &["2024-02-01T00:00:00Z", "2024-04-03T00:00:00Z"],
            &["it is unclear"],
        ),
        Case::new(
            "years of two digits",
            "Buchungstag;Betrag\n28.02.24;-12,50\n01.03.24;-8,00\n",
            &["2024-02-28T00:00:00Z", "2024-03-01T00:00:00Z"],
            &["two digits"],
        ),
        Case::new(
            "a month and a year of two digits",
            "Country,Month,Year\nGuinea,3,14\nGuinea,4,14\n",
            &["2014-03-01T00:00:00Z", "2014-04-01T00:00:00Z"],
            &["two digits"],
        ),
        Case::new(
            "days of a spreadsheet",
            "when,n\n45350.5451388889,1\n45352,2\n",
            &["2024-02-28T13:05:00Z", "2024-03-01T00:00:00Z"],
            &["spreadsheet"],
        ),
        Case::new(
            "milliseconds since 1970",
            "ts,value\n1714557600123,1\n1714557600456,2\n",
            &["2024-05-01T10:00:00.123Z", "2024-05-01T10:00:00.456Z"],
            &["1970"],
        ),
        Case::new(
            "tweets",
            "created_at,text\nWed Aug 27 13:08:45 +0000 2008,a\nThu Aug 28 13:08:45 +0000 2008,b\n",
            &["2008-08-27T13:08:45Z", "2008-08-28T13:08:45Z"],
            &[],
        ),
        Case::new(
            "letters",
            "Date,Subject\n\"Wed, 27 Aug 2008 13:08:45 +0200\",a\n\"Thu, 28 Aug 2008 13:08:45 +0200\",b\n",
            &["2008-08-27T11:08:45Z", "2008-08-28T11:08:45Z"],
            &[],
        ),
        Case::new(
            "activities",
            "Activity ID,Activity Date,Activity Name\n1,\"May 1, 2024, 10:00:00 AM\",Run\n2,\"May 2, 2024, 6:30:00 PM\",Ride\n",
            &["2024-05-01T10:00:00Z", "2024-05-02T18:30:00Z"],
            &["UTC"],
        ),
        Case::new(
            "tickets",
            "Issue key,Created,Summary\nA-1,01/May/24 10:00 AM,a\nA-2,02/May/24 6:30 PM,b\n",
            &["2024-05-01T10:00:00Z", "2024-05-02T18:30:00Z"],
            &["UTC", "two digits"],
        ),
        Case::new(
            "long names of months",
            "event_date,event_type\n01 May 2024,Protest\n12 June 2024,Riot\n",
            &["2024-05-01T00:00:00Z", "2024-06-12T00:00:00Z"],
            &[],
        ),
        Case::new(
            "the same word before each date",
            "person,eow\nA,\"EOW: Monday, January 3, 1791\"\nB,\"EOW: Tuesday, May 17, 1791\"\n",
            &["1791-01-03T00:00:00Z", "1791-05-17T00:00:00Z"],
            &[],
        ),
        Case::new(
            "dates of eight digits",
            "SQLDATE,Actor1\n20240501,A\n20240502,B\n",
            &["2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z"],
            &[],
        ),
        Case::new(
            "launches",
            "Company,Datum,Detail\nX,\"Fri Aug 07, 2020 05:12 UTC\",a\nY,\"Thu Aug 06, 2020 04:01 UTC\",b\n",
            &["2020-08-07T05:12:00Z", "2020-08-06T04:01:00Z"],
            &[],
        ),
        Case::new(
            "events of an operating system",
            "Level,Date and Time,Source\nError,5/13/2024 10:00:00 AM,Disk\nError,5/14/2024 11:30:00 PM,Disk\n",
            &["2024-05-13T10:00:00Z", "2024-05-14T23:30:00Z"],
            &["UTC"],
        ),
        Case::new(
            "years with an era",
            "year,what\n44 BC,Ides\nAD 79,Vesuvius\n",
            &["-000043-01-01T00:00:00Z", "0079-01-01T00:00:00Z"],
            &[],
        ),
        Case::new(
            "names of months",
            "Year,Month,Day,what\n1969,July,20,landing\n1972,December,14,leaving\n",
            &["1969-07-20T00:00:00Z", "1972-12-14T00:00:00Z"],
            &[],
        ),
        Case::new(
            "commits",
            "hash,author_date,subject\naa,2024-05-01 10:00:00 +0200,a\nbb,2024-05-01 11:00:00 +0200,b\n",
            &["2024-05-01T08:00:00Z", "2024-05-01T09:00:00Z"],
            &[],
        ),
        Case::new(
            "tab-separated log of downloads",
            "date\ttime\tbytes\n2024-05-01\t10:00:00\t5\n2024-05-01\t10:00:01\t7\n",
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &["UTC"],
        )
        .named_as(Format::Csv),
    ]
}
